"""The graph node of a variable: references the function that computed the value, not the value itself."""

import weakref
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # every define-by-run core has this cycle: nodes reference functions, functions their nodes
    from cvzoo.autodiff.function_node import FunctionNode
    from cvzoo.autodiff.variable import Variable


class VariableNode:
    """A value's node in the graph.

    creator: the function whose output it is; None for a leaf
    rank: 0 for a leaf, else one more than its creator's highest input
    given_up: None; once a `backward()` has released the graph of this value, weak references to those of its functions
        that may still be referenced elsewhere, which `unchain_behind` has to cut
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

    def __init__(
        self, variable: "Variable | None", shape: tuple[int, ...], dtype: np.dtype | None, requires_grad: bool
    ):
        self._variable = None if variable is None else weakref.ref(variable)
        self.shape = shape
        self.dtype: np.dtype | Any = dtype  # Any stands for None, of a Parameter without a value
        self.requires_grad = requires_grad
        self.creator: FunctionNode | None = None
        self.rank = 0
        self.given_up: Collection[weakref.ref[FunctionNode]] | None = None
        self.grad_var: Variable | None = None
        self.name: str | None = None

    @property
    def released(self) -> bool:
        """Whether a `backward()` has released the graph of this value: gradients cannot be propagated any more."""
        return self.given_up is not None

    def behind(self) -> list["FunctionNode"]:
        """Its creator; if its graph was released, those of the graph's functions that are still referenced."""
        if self.creator is not None:
            return [self.creator]
        return [function for function in (reference() for reference in self.given_up or ()) if function is not None]

    def unchain(self) -> None:
        """Make it a leaf."""
        self.creator = None
        self.rank = 0
        self.given_up = None

    def variable(self) -> "Variable | None":
        """The user's Variable if it is still referenced, else None."""
        return None if self._variable is None else self._variable()

    def bind(self, variable: "Variable") -> None:
        """Make `variable` the user's handle of this node."""
        self._variable = weakref.ref(variable)
