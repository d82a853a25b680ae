"""The same values with the axes in another order."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import all_axes


class Transpose(FunctionNode):
    def __init__(self, axes: Sequence[int] | None):
        self.axes = axes

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend_of(x)
        axes = self.axes
        if axes is not None:
            self.axes = axes = all_axes(axes, x.ndim, "transpose")
            if len(axes) != x.ndim:
                raise ShapeError("transpose: every axis must come once", expected=f"{x.ndim} axes", got=axes)
        return (x.transpose(axes),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        axes = self.axes
        if axes is not None:
            axes = sorted(range(len(axes)), key=axes.__getitem__)
        return Transpose(axes).apply(gys)


def transpose(x: Variable | Any, axes: Sequence[int] | None = None) -> Variable:
    """x with its axes in the order `axes`, or in reverse order; a view.

    Raises ShapeError if `axes` does not name every axis once.
    """
    return Transpose(axes).apply((x,))[0]
