"""One value of each row, by its index; rows in another order."""

import math
from typing import Any

import numpy as np

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.arrays import is_array, range_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.array.axes import one_axis
from cvzoo.functions.array.get_item import get_item
from cvzoo.functions.array.where import where
from cvzoo.typing.aliases import Array


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
    if t.size and extremes is None:  # not checked yet
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
    """x with the places along `axis` in the order `indices`, or, with `inv`, put back from that order.

    indices: (n,) int, each of 0 .. n - 1 once, n the size of the axis
    Raises ShapeError or ValueRangeError if `indices` is no such order. On a GPU its numbers are not looked at.
    """
    x = as_variable(x)
    axis = one_axis(axis, x.ndim, "permutate")
    order = as_array(indices)
    n = x.shape[axis]
    order = order if is_array(order) else np.asarray(order)
    if order.shape != (n,):
        raise ShapeError("permutate: one index for each place", expected=(n,), got=order.shape)
    if range_of(order) is not None and not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueRangeError("permutate: every place must come once", expected=f"0 to {n - 1}, each once", got=order)
    return get_item(x, (slice(None),) * axis + (_inverse(order) if inv else order,))


def _inverse(order: Any) -> Any:
    """The inverse permutation; without sorting, which would synchronize with the GPU."""
    xp = backend_of(order).xp
    places = xp.empty(order.shape, np.int64)
    places[order] = xp.arange(len(order))
    return places
