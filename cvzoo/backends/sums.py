"""Sums that keep their digits: of float32 by blocks, however the array lies in memory.

NumPy adds pairwise along the axis that lies innermost, and one number after the other along all others: over the pixels
of a channels-last map the rounding errors grow with the number of pixels.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.native.sums import running_sum_natively, sum_natively

_F32 = np.dtype(np.float32)
_FEW = 48  # numbers that may be added one after the other: about as many as NumPy's pairwise sum adds so
_SMALL = 1 << 14  # numbers that NumPy converts to float64 and adds in less time than blocks of them take to be found
_BLOCK = 16  # how many are added so where there are more
_WIDE = 2048  # sums side by side: enough that a NumPy loop's start costs nothing, few enough for a level-1 cache


def sum_along(x: Any, axes: Sequence[int], *, keepdims: bool = False) -> Any:
    """The sum of x along `axes` (each from 0), of float32 within 4e-7 of the sum of the absolute values.

    Other dtypes are added as NumPy adds them; arrays on a GPU as CuPy does, in many threads side by side.
    """
    axes = tuple(axes)
    if x.dtype != _F32 or not isinstance(x, np.ndarray):
        return x.sum(axes, keepdims=keepdims)
    n = 1
    for axis in axes:
        n *= x.shape[axis]
    if n <= _FEW or not x.size or (axes == tuple(range(x.ndim - len(axes), x.ndim)) and _is_dense(x, len(axes))):
        return x.sum(axes, keepdims=keepdims)  # few, or pairwise as it is
    y = sum_natively(x, axes, keepdims=keepdims)
    if y is not None:
        return y
    if (x.size if 0 in axes else x.size // len(x)) <= _SMALL:  # of an image, whose sums do not depend on its batch
        return x.sum(axes, dtype=np.float64, keepdims=keepdims).astype(_F32)
    order = [axis for axis in range(x.ndim) if x.shape[axis] != 1]
    order.sort(key=lambda axis: -abs(x.strides[axis]))  # as the axes lie, the innermost last
    sizes, summed = _runs(x, order, axes)
    if summed == [len(sizes) - 1]:
        return x.sum(axes, keepdims=keepdims)  # pairwise as it is
    y = _without(x.transpose(*order, *[k for k in range(x.ndim) if x.shape[k] == 1]).reshape(sizes), summed)
    rest = [axis for axis in order if axis not in axes]
    if rest:
        y = y.reshape([x.shape[axis] for axis in rest]).transpose(np.argsort(rest))
    shape = [1 if axis in axes else x.shape[axis] for axis in range(x.ndim) if keepdims or axis not in axes]
    return y.reshape(shape) if shape else y


def _is_dense(x: np.ndarray, n_axis: int) -> bool:
    """Whether the last axes are contiguous: of an image cut out of a batch as they are of the batch."""
    return x.flags.c_contiguous or x[(0,) * (x.ndim - n_axis)].flags.c_contiguous


def running_sum(x: Any, axis: int) -> Any:
    """The running sums of x along `axis`, from 0; of float32 on the CPU added in float64."""
    if x.dtype != _F32 or not isinstance(x, np.ndarray):
        return x.cumsum(axis)
    y = running_sum_natively(x, axis) if x.size else None
    return x.cumsum(axis, dtype=np.float64).astype(_F32) if y is None else y  # one after the other is all it can do


def _runs(x: np.ndarray, order: Sequence[int], axes: Sequence[int]) -> tuple[list[int], list[int]]:
    """The sizes of x's axes in that order, those that lie as one joined to one, and which of them are summed."""
    sizes: list[int] = []
    summed: list[int] = []
    before = -1
    for axis in order:
        one = before >= 0 and (axis in axes) == (before in axes)
        if one and x.strides[before] == x.shape[axis] * x.strides[axis]:
            sizes[-1] *= x.shape[axis]
        else:
            sizes.append(x.shape[axis])
            if axis in axes:
                summed.append(len(sizes) - 1)
        before = axis
    return sizes, summed


def _without(x: np.ndarray, summed: list[int]) -> np.ndarray:
    """x summed along several axes, x's axes in the order in which they lie."""
    if summed[-1] == x.ndim - 1 and x.shape[-1] <= _FEW:
        summed = [summed[-1], *summed[:-1]]  # a short innermost axis last: NumPy's loops are along longer ones
    for k in range(len(summed) - 1, -1, -1):
        place = summed[k]
        x = np.add.reduce(x, place) if place == x.ndim - 1 else _folded(x, place)
        summed = [each - (each > place) for each in summed]
    return x


def _folded(x: np.ndarray, axis: int) -> np.ndarray:
    """x summed along an axis that is not the innermost."""
    n = x.shape[axis]
    if n <= _FEW:
        return np.add.reduce(x, axis)
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    n_block, length, beside = _split(n, x[(0,) * (axis + 1)].size)
    body = n_block * length * beside
    pick = (slice(None),) * axis
    blocks = x[(*pick, slice(body))].reshape(*before, n_block, length, beside, *after)
    y = np.add.reduce(blocks, axis + 1).reshape(*before, n_block * beside, *after)
    y = _folded(y, axis)
    return y if body == n else y + _folded(x[(*pick, slice(body, None))], axis)


@functools.lru_cache(1024)
def _split(n: int, inner: int) -> tuple[int, int, int]:
    """How n rows of `inner` numbers are added: (blocks, rows added to one another, rows beside these).

    Their product is n if n has divisors that suit.
    """
    length = next((k for k in range(_BLOCK, 5, -1) if n % k == 0), _BLOCK)
    rows = n // length
    most = min(max(_WIDE // max(inner, 1), 1), rows)
    beside = next((k for k in range(most, most // 2, -1) if rows % k == 0), most)
    return rows // beside, length, beside
