"""Elements chosen by index or by condition, added back at their indices, and repeated."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.arrays import is_array, range_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.array.axes import one_axis, reshape
from cvzoo.functions.array.broadcast import broadcast_to, sum_to
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.typing.aliases import Array


def _index(slices: Any) -> tuple[tuple, bool]:
    """The index as a tuple, and whether it is made of slices and numbers only, which name no element twice."""
    parts = slices if isinstance(slices, tuple) else (slices,)
    index = [_part(part) for part in parts]
    return tuple(index), not any(is_array(part) for part in index)


def _part(part: Any) -> Any:
    if part is None or part is Ellipsis or isinstance(part, slice):
        return part
    if isinstance(part, int | np.integer) and not isinstance(part, bool):
        return int(part)
    array = as_array(part)
    if isinstance(array, list | tuple | bool | np.bool_):
        # NumPy makes an empty list float64, which is no index
        array = np.asarray(array, np.intp if not np.size(array) else None)
    known = is_array(array)
    if not known or array.dtype.kind not in "iub":
        raise DtypeError(
            "x[...] takes integers, slices, None, ... or arrays of integers or booleans",
            got=array.dtype if known else repr(part),
        )
    return array


def _look_up(x: Array, index: tuple) -> Array:
    try:
        return backend_of(x).take(x, index)
    except IndexError as error:
        raise ShapeError(f"x[...]: invalid index: {error}", got=f"shape {x.shape}") from None


class GetItem(FunctionNode):
    def __init__(self, index: tuple, basic: bool):
        self.index = index
        self.basic = basic

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        return (_look_up(x, self.index),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x = self.inputs[0]
        return GetItemGrad(self.index, self.basic, x.shape).apply(gys)


class GetItemGrad(FunctionNode):
    """Zeros with the gradient added at the index."""

    def __init__(self, index: tuple, basic: bool, shape: tuple[int, ...]):
        self.in_float32 = not basic  # basic indexing does not accumulate
        self.index = index
        self.basic = basic
        self.shape = shape

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (gy,) = inputs
        backend = backend_of(gy)
        gx = backend.zeros(self.shape, gy.dtype)
        if self.basic:
            gx[self.index] = gy
        else:
            backend.add_at(gx, self.index, gy)
        return (gx,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return GetItem(self.index, self.basic).apply(gys)


class ScatterAdd(FunctionNode):
    in_float32 = True

    def __init__(self, index: tuple, basic: bool):
        self.index = index
        self.basic = basic

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        a, b = inputs
        backend_of(b)
        backend = backend_of(a)
        if a.dtype != b.dtype:
            raise DtypeError("scatter_add: both arrays must have one dtype", got=f"{a.dtype} and {b.dtype}")
        place = _look_up(a, self.index)
        if place.shape != b.shape:
            raise ShapeError("scatter_add: b has another shape than a[slices]", expected=place.shape, got=b.shape)
        y = a.copy(order="K")
        if self.basic:
            y[self.index] += b
        else:
            backend.add_at(y, self.index, b)
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return tuple([GetItem(self.index, self.basic).apply(gys)[0] if i else gys[0] for i in indexes])


def get_item(x: Variable | Array, slices: Any) -> Variable:
    """x[slices] by NumPy's rules: a view for slices and integers, a copy for arrays of indices or booleans.

    On a GPU indices are not checked: those out of range wrap around. Boolean masks synchronize the GPU.
    Raises ShapeError if the index does not fit x, DtypeError if it is not an index.
    """
    return GetItem(*_index(slices)).apply((x,))[0]


def scatter_add(a: Variable | Array, slices: Any, b: Variable | Array) -> Variable:
    """A copy of a with b added to a[slices]; an element that is indexed twice is added to twice.

    Raises ShapeError if b does not have the shape of a[slices], DtypeError if dtypes differ.
    """
    return ScatterAdd(*_index(slices)).apply(agreed_pair(a, b))[0]


@on_device_of_arguments
def select_item(x: Variable | Array, t: Variable | Array) -> Variable:
    """(B,): x[i, t[i]] of x (B, L) and t (B,) int.

    Raises ShapeError if the shapes do not fit, DtypeError if t is not of integers, ValueRangeError if one is not
    in 0 .. L - 1. A t on a GPU is not checked: for one out of range the value is NaN.
    """
    x = as_variable(x)
    t = as_array(t)
    backend_of(t)
    if t.dtype.kind not in "iu":
        raise DtypeError("select_item: t must be of integers", got=t.dtype)
    if x.ndim != 2 or t.shape != x.shape[:1]:
        raise ShapeError("select_item: x must be (B, L), and t (B,)", got=f"x {x.shape}, t {t.shape}")
    extremes = range_of(t)
    if t.size and extremes is None:  # on a GPU, where checking would synchronize: an invalid label gives NaN
        y = get_item(x, (np.arange(len(t)), t))
        return where((t >= 0) & (t < x.shape[1]), y, math.nan) if is_float(x.dtype) else y
    if extremes and not (extremes[0] >= 0 and extremes[1] < x.shape[1]):
        raise ValueRangeError(
            "select_item: a label is out of range",
            expected=f"0 to {x.shape[1] - 1}",
            got=f"{extremes[0]} to {extremes[1]}",
        )
    return get_item(x, (np.arange(len(t)), t))


@on_device_of_arguments
def permutate(x: Variable | Array, indices: Variable | Array, axis: int = 0, inv: bool = False) -> Variable:
    """x with its elements along `axis` in the order `indices`, or, with `inv`, in the inverse order.

    indices: (n,) int, each of 0 .. n - 1 once, n the size of the axis
    Raises ShapeError or ValueRangeError if `indices` is no such order. On a GPU its numbers are not looked at.
    """
    x = as_variable(x)
    axis = one_axis(axis, x.ndim, "permutate")
    order = as_array(indices)
    n = x.shape[axis]
    order = order if is_array(order) else np.asarray(order)
    if order.shape != (n,):
        raise ShapeError("permutate: one index for each element along the axis", expected=(n,), got=order.shape)
    if range_of(order) is not None and not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueRangeError(
            "permutate: indices must be a permutation", expected=f"0 to {n - 1}, each once", got=order
        )
    return get_item(x, (slice(None),) * axis + (_inverse(order) if inv else order,))


def _inverse(order: Array) -> Array:
    """The inverse permutation; without sorting, which would synchronize with the GPU."""
    xp = backend_of(order).xp
    places = xp.empty(order.shape, np.int64)
    places[order] = xp.arange(len(order))
    return places


class Where(FunctionNode):
    in_float32 = True  # no array module's `where` need know bfloat16

    def __init__(self, condition: Array):
        self.condition = condition

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, y = inputs
        xp = backend_of(x).xp
        backend_of(y)
        if x.dtype != y.dtype:
            raise DtypeError("where: both sides must have one dtype", got=f"{x.dtype} and {y.dtype}")
        try:
            return (xp.where(self.condition, x, y),)
        except ValueError:
            raise ShapeError(
                "where: the shapes do not broadcast",
                expected="equal sizes, or 1, axis by axis from the last",
                got=f"condition {self.condition.shape}, x {x.shape}, y {y.shape}",
            ) from None

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        # where() and not a product with zeros: an infinite gradient of the side not chosen must not give NaN
        return tuple([sum_to(Keep(self.condition, bool(i)).apply(gys)[0], self.inputs[i].shape) for i in indexes])


class Keep(FunctionNode):
    """x where the condition holds (or, `negated`, does not), else 0."""

    in_float32 = True

    def __init__(self, condition: Array, negated: bool):
        self.condition = condition
        self.negated = negated

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        xp = backend_of(x).xp
        zero = x.dtype.type(0)
        return (xp.where(self.condition, zero, x) if self.negated else xp.where(self.condition, x, zero),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return Keep(self.condition, self.negated).apply(gys)


def where(condition: Variable | Array | bool, x: Variable | Array | float, y: Variable | Array | float) -> Variable:
    """x where the condition holds, else y; shapes broadcast.

    condition: bool; no gradient
    x, y: arrays of one dtype, or one of them a number
    Raises DtypeError if the condition is not bool or dtypes differ, ShapeError if shapes do not broadcast.
    """
    mask: Array = np.asarray(condition) if isinstance(condition, bool) else as_array(condition)
    xp = backend_of(mask).xp
    if mask.dtype.kind != "b":
        raise DtypeError("where: the condition must be bool", got=mask.dtype, hint="condition != 0")
    first: Variable | Array | Any = x
    second: Variable | Array | Any = y
    if isinstance(first, int | float):
        first = xp.asarray(first, second.dtype)
    elif isinstance(second, int | float):
        second = xp.asarray(second, first.dtype)
    return Where(mask).apply(agreed_pair(first, second))[0]


def tile(x: Variable | Array, reps: int | Sequence[int]) -> Variable:
    """x laid out `reps` times along each axis, the last numbers for the last axes, as numpy.tile does.

    Raises ValueRangeError if a number is negative.
    """
    x = as_variable(x)
    reps = (reps,) if isinstance(reps, int) else tuple(reps)
    if any(r < 0 for r in reps):
        raise ValueRangeError("tile: nothing can be repeated a negative number of times", got=reps)
    ndim = max(x.ndim, len(reps))
    reps = (1,) * (ndim - len(reps)) + reps
    shape = (1,) * (ndim - x.ndim) + x.shape
    paired = [n for size in shape for n in (1, size)]
    repeated = [n for r, size in zip(reps, shape) for n in (r, size)]
    y = broadcast_to(reshape(x, tuple(paired)), tuple(repeated))
    return reshape(y, tuple([r * size for r, size in zip(reps, shape)]))


def repeat(x: Variable | Array, repeats: int | Sequence[int], axis: int | None = None) -> Variable:
    """x with each element repeated along `axis`, or of the flattened x.

    repeats: how often: one number for all, or one for each index along the axis
    Raises ShapeError if an axis is out of range or the numbers do not fit, ValueRangeError if one is negative.
    """
    x = as_variable(x)
    if axis is None:
        x, axis = reshape(x, (x.size,)), 0
    axis = one_axis(axis, x.ndim, "repeat")
    counts = np.asarray(repeats)
    if (counts < 0).any():
        raise ValueRangeError("repeat: nothing can be repeated a negative number of times", got=repeats)
    head, size, tail = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    if counts.size == 1:
        n = int(counts.reshape(()))
        y = broadcast_to(reshape(x, (*head, size, 1, *tail)), (*head, size, n, *tail))
        return reshape(y, (*head, size * n, *tail))
    if counts.shape != (size,):
        raise ShapeError(
            "repeat: one number, or one for each element along the axis", expected=(size,), got=counts.shape
        )
    return get_item(x, (slice(None),) * axis + (np.repeat(np.arange(size), counts),))
