"""A cache of weights in the forms that inference kernels read."""

from collections.abc import Hashable
from typing import Any

import numpy as np


class PreparedWeights(dict):
    """Prepared copies of one parameter's value: the only place where such copies are cached.

    The items are copies in a kernel's memory format, by the format's name; backends fill them in (the argument `pack`
    of their convolutions and products).

    made: other forms of the weights, each with prepared weights of its own: rounded to 16 bits (by dtype), quantized
        to int8, as 1x1 filters, with a following normalization folded in (see `folded`)
    mark: a unique object that identifies this table
    scale: (O,) float64, or None: by what each filter is multiplied before it is put in a kernel's format (see
        `scaled_filters`), so that the product itself is not kept

    A table belongs to one value: the parameter drops it when the value may change (see `Parameter`). As long as a
    parameter's table has the same mark, the value is unchanged.
    """

    __slots__ = ("made", "mark", "scale")

    def __init__(self, scale: np.ndarray | None = None) -> None:
        self.made: dict[Hashable, Any] = {}
        self.mark = object()
        self.scale = scale

    def __reduce__(self) -> tuple:
        return PreparedWeights, (self.scale,)  # copied or unpickled weights are prepared again

    @property
    def is_empty(self) -> bool:
        """Whether nothing was prepared yet."""
        return not self and not self.made
