"""Sums along axes."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.sums import sum_along
from cvzoo.functions.array.axes import Axes, all_axes, kept_shape
from cvzoo.functions.array.broadcast_to import broadcast_to
from cvzoo.functions.array.reshape import reshape


class Sum(FunctionNode):
    in_float32 = True

    def __init__(self, axis: Axes, keepdims: bool):
        self.axis = axis
        self.keepdims = keepdims

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend_of(x)
        self.axes = all_axes(self.axis, x.ndim, "sum")
        return (sum_along(x, self.axes, keepdims=self.keepdims),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        (gy,) = gys
        shape = self.inputs[0].shape
        if not self.keepdims:
            gy = reshape(gy, kept_shape(shape, self.axes))
        return (broadcast_to(gy, shape),)


def sum(x: Variable | Any, axis: Axes = None, keepdims: bool = False) -> Variable:
    """The sum of x along `axis`.

    axis: one axis, several, or None for all
    keepdims: the summed axes stay, with size 1
    Raises ShapeError if there is no such axis.
    """
    return Sum(axis, keepdims).apply((x,))[0]
