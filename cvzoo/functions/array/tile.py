"""Copies of an array, or of its elements, one after another."""

from collections.abc import Sequence

import numpy as np

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.array.axes import one_axis
from cvzoo.functions.array.broadcast_to import broadcast_to
from cvzoo.functions.array.get_item import get_item
from cvzoo.functions.array.reshape import reshape
from cvzoo.typing.aliases import Array


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
        raise ShapeError("repeat: one number, or one for each place", expected=(size,), got=counts.shape)
    return get_item(x, (slice(None),) * axis + (np.repeat(np.arange(size), counts),))
