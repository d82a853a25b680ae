"""The graph's side of a variable: knows where a value came from, does not hold the value."""

import weakref
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the knot of every define-by-run core: a node names its creator, a creator names its nodes
    from cvzoo.autodiff.function_node import FunctionNode
    from cvzoo.autodiff.variable import Variable


class VariableNode:
    """A place in the graph.

    creator: the function whose output it is; None for a leaf
    rank: 0 for a leaf, else one more than its creator's highest input
    given_up: None; or, once a `backward()` gave up the graph behind it, the functions there that others may still hold,
        weakly: those, and what they hold, are all that is left to cut
    grad_var: the gradient as a Variable, or None
    """

    __slots__ = (
        "__weakref__",
        "_variable",
        "creator",
        "dtype",
        "given_up",
        "grad_var",
        "name",
        "rank",
        "requires_grad",
        "shape",
    )

    def __init__(self, variable: "Variable | None", shape: tuple[int, ...], dtype: Any, requires_grad: bool):
        self._variable = None if variable is None else weakref.ref(variable)
        self.shape = shape
        self.dtype = dtype
        self.requires_grad = requires_grad
        self.creator: FunctionNode | None = None
        self.rank = 0
        self.given_up: Collection[weakref.ref[FunctionNode]] | None = None
        self.grad_var: Variable | None = None
        self.name: str | None = None

    @property
    def released(self) -> bool:
        """Whether the graph behind it was given up by a `backward()`, so that no gradient goes there any more."""
        return self.given_up is not None

    def behind(self) -> list["FunctionNode"]:
        """Its creator; or of a value whose graph was given up, the functions there that somebody still holds."""
        if self.creator is not None:
            return [self.creator]
        return [function for function in (reference() for reference in self.given_up or ()) if function is not None]

    def unchain(self) -> None:
        """Make it a leaf."""
        self.creator = None
        self.rank = 0
        self.given_up = None

    def variable(self) -> "Variable | None":
        """The user's handle if it still lives, else None."""
        return None if self._variable is None else self._variable()

    def bind(self, variable: "Variable") -> None:
        """Make `variable` the user's handle of this place."""
        self._variable = weakref.ref(variable)
