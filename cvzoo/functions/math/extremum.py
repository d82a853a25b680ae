"""Extrema along axes and of pairs, their indices, and values clipped to an interval."""

import math
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_half, widened
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.array.axes import Axes, all_axes, kept_shape, one_axis, reshape
from cvzoo.functions.array.broadcast import broadcast_to, sum_to
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.functions.math.arithmetic import SCALARS, Operand, multiply, of_pair, typed_constant
from cvzoo.functions.math.elementwise import AbstractElementwise
from cvzoo.typing.aliases import Array


class Extremum(FunctionNode):
    in_float32 = True

    def __init__(self, name: str, axis: Axes, keepdims: bool):
        self.name = name
        self.axis = axis
        self.keepdims = keepdims

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        xp = backend_of(x).xp
        self.axes = all_axes(self.axis, x.ndim, self.name)
        if any(x.shape[axis] == 0 for axis in self.axes):
            raise ShapeError(f"{self.name}: there is nothing to choose from", got=x.shape)
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        reduce = xp.max if self.name == "max" else xp.min
        return (reduce(x, axis=self.axes, keepdims=self.keepdims),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (x,) = self.get_retained_inputs()
        (y,) = self.get_retained_outputs()
        shape = kept_shape(x.shape, self.axes)
        chosen = x.array == y.array.reshape(shape)
        share = chosen.astype(x.dtype)
        share /= share.sum(self.axes, keepdims=True)
        return (multiply(broadcast_to(reshape(gys[0], shape), x.shape), share),)


def max(x: Variable | Array, axis: Axes = None, keepdims: bool = False) -> Variable:
    """The largest value of x along `axis`; arguments as of `sum`. Equal maxima share the gradient evenly.

    Raises ShapeError if an axis is out of range or no value.
    """
    return Extremum("max", axis, keepdims).apply((x,))[0]


def min(x: Variable | Array, axis: Axes = None, keepdims: bool = False) -> Variable:
    """The smallest value of x along `axis`; as `max`."""
    return Extremum("min", axis, keepdims).apply((x,))[0]


class Maximum(FunctionNode):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        a, b = inputs
        self.retain_inputs((0, 1))
        return (of_pair("maximum", a, b),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        a, b = self.get_retained_inputs()
        return _share(indexes, gys[0], a, b, a.array >= b.array)


class Minimum(FunctionNode):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        a, b = inputs
        self.retain_inputs((0, 1))
        return (of_pair("minimum", a, b),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        a, b = self.get_retained_inputs()
        return _share(indexes, gys[0], a, b, a.array <= b.array)


def _share(indexes: tuple[int, ...], gy: Variable, a: Variable, b: Variable, first: Array) -> tuple[Variable, ...]:
    """The gradient for a where `first`, else for b."""
    return tuple([sum_to(gy * (~first if i else first).astype(gy.dtype), (b if i else a).shape) for i in indexes])


def _operands(a: Any, b: Any, function: str) -> tuple[Variable | Array, Variable | Array]:
    """A plain number becomes an array of the other's dtype."""
    if isinstance(b, SCALARS):
        array = as_array(a)
        value = typed_constant(b, array, function)
        if is_half(array.dtype):  # an array module need not know numbers of 16 bits
            return a, backend_of(array).xp.full((), float(value), "float32").astype(array.dtype)
        return a, backend_of(array).xp.full((), value, array.dtype)
    if isinstance(a, SCALARS):
        b, a = _operands(b, a, function)
    return a, b


def maximum(a: Operand, b: Operand) -> Variable:
    """The larger of a and b, element by element; operands as in `add`. Where they are equal a gets the gradient."""
    return Maximum().apply(agreed_pair(*_operands(a, b, "maximum")))[0]


def minimum(a: Operand, b: Operand) -> Variable:
    """The smaller of a and b, element by element; operands as in `add`. Where they are equal a gets the gradient."""
    return Minimum().apply(agreed_pair(*_operands(a, b, "minimum")))[0]


def _find(x: Variable | Array, axis: int | None, function: str) -> Variable:
    array = as_array(x)
    xp = backend_of(array).xp
    array = widened(array)
    axis = None if axis is None else one_axis(axis, array.ndim, function)
    if not (array.size if axis is None else array.shape[axis]):
        raise ShapeError(f"{function}: there is nothing to choose from", got=array.shape)
    find = xp.argmax if function == "argmax" else xp.argmin
    return as_variable(xp.asarray(find(array, axis=axis)).astype("int32"))


@on_device_of_arguments
def argmax(x: Variable | Array, axis: int | None = None) -> Variable:
    """int32: the index of the largest value along `axis` (first of equals), or in the flattened x. No gradient.

    Raises ShapeError if an axis is out of range or no value.
    """
    return _find(x, axis, "argmax")


@on_device_of_arguments
def argmin(x: Variable | Array, axis: int | None = None) -> Variable:
    """int32: the index of the smallest value, as `argmax`. No gradient."""
    return _find(x, axis, "argmin")


class Clip(AbstractElementwise):
    """x clipped to [low, high]; the derivative at a bound is 1, or 0 with `open_bounds`, as that of ReLU at 0."""

    def __init__(self, low: float, high: float, *, open_bounds: bool = False):
        self.kind = "clip" if open_bounds else "clamp"
        self.alpha = low
        self.beta = high

    def slope(self, x: Variable) -> Variable | Array:
        array = x.array
        if self.kind == "clip":
            return ((array > self.alpha) & (array < self.beta)).astype(array.dtype)
        return ((array >= self.alpha) & (array <= self.beta)).astype(array.dtype)


def clip(x: Variable | Array, x_min: float | None, x_max: float | None) -> Variable:
    """min(max(x, x_min), x_max); a bound that is None does not bind. The derivative is 0 outside, 1 at the bounds.

    NaN stays NaN with NumPy; oneDNN may make one of the bounds of it.
    Raises ValueRangeError if x_min is above x_max.
    """
    low = -math.inf if x_min is None else float(x_min)
    high = math.inf if x_max is None else float(x_max)
    if not low <= high:
        raise ValueRangeError("clip: x_min must not be above x_max", got=f"{x_min} and {x_max}")
    return Clip(low, high).apply((x,))[0]
