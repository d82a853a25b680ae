"""Largest and smallest values along axes."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import Axes, all_axes, kept_shape
from cvzoo.functions.array.broadcast_to import broadcast_to
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.math.multiply import multiply


class Extremum(FunctionNode):
    in_float32 = True

    def __init__(self, name: str, axis: Axes, keepdims: bool):
        self.name = name
        self.axis = axis
        self.keepdims = keepdims

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        xp = backend_of(x).xp
        self.axes = all_axes(self.axis, x.ndim, self.name)
        if any(x.shape[axis] == 0 for axis in self.axes):
            raise ShapeError(f"{self.name}: there is nothing to choose from", got=x.shape)
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        reduce = xp.max if self.name == "max" else xp.min
        return (reduce(x, axis=self.axes, keepdims=self.keepdims),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        (x,) = self.get_retained_inputs()
        (y,) = self.get_retained_outputs()
        shape = kept_shape(x.shape, self.axes)
        chosen = x.array == y.array.reshape(shape)
        share = chosen.astype(x.dtype)
        share /= share.sum(self.axes, keepdims=True)
        return (multiply(broadcast_to(reshape(gys[0], shape), x.shape), share),)


def max(x: Variable | Any, axis: Axes = None, keepdims: bool = False) -> Variable:
    """The largest value of x along `axis`; arguments as of `sum`. Equal maxima share the gradient evenly.

    Raises ShapeError if there is no such axis or no value.
    """
    return Extremum("max", axis, keepdims).apply((x,))[0]


def min(x: Variable | Any, axis: Axes = None, keepdims: bool = False) -> Variable:
    """The smallest value of x along `axis`; as `max`."""
    return Extremum("min", axis, keepdims).apply((x,))[0]
