"""What inference makes of a parameter's value once, and keeps."""

from collections.abc import Hashable
from typing import Any


class PreparedWeights(dict):
    """Weights prepared for inference: the one place where copies of a parameter's value are kept.

    The items are copies in the order that a kernel wants, by the order's name: backends fill them in (the argument
    `pack` of their convolutions and products).

    made: other forms of the weights, each with prepared weights of its own: rounded to 16 bits (by dtype), in eight
        bits, as filters of one pixel, multiplied with what stands behind the layer (see `folded_weights`)
    mark: an object of its own, to tell tables apart by

    A table belongs to one value: the parameter drops it, and begins another, when the value may change (see
    `Parameter`). So as long as a parameter's table has the same mark, the value is what it was.
    """

    __slots__ = ("made", "mark")

    def __init__(self) -> None:
        self.made: dict[Hashable, Any] = {}
        self.mark = object()

    def __reduce__(self) -> tuple:
        return PreparedWeights, ()  # who copies weights prepares them anew

    @property
    def is_empty(self) -> bool:
        """Whether nothing was prepared yet."""
        return not self and not self.made
