"""Accurate sums of float32 arrays by blocks, for any memory format.

NumPy sums pairwise only along the innermost axis in memory, and sequentially along the others: over the pixels of a
channels-last map the rounding error grows with the number of pixels.
"""

import functools
from collections.abc import Sequence

import numpy as np

from cvzoo.backends.native.sums import running_sum_natively, sum_natively
from cvzoo.typing.aliases import Array

_F32 = np.dtype(np.float32)
_FEW = 48  # elements that are summed sequentially, about as many as in NumPy's pairwise summation
_SMALL = 1 << 14  # elements that NumPy sums in float64 in less time than dividing them into blocks takes
_BLOCK = 16  # elements of a block, summed sequentially
_WIDE = 2048  # sums in parallel: enough to amortize a NumPy call, few enough for the level-1 cache


def sum_along(x: Array, axes: Sequence[int], *, keepdims: bool = False) -> Array:
    """The sum of x along `axes` (each from 0), of float32 within 4e-7 of the sum of the absolute values.

    Other dtypes are summed by NumPy; arrays on a GPU by CuPy.
    """
    axes = tuple(axes)
    if x.dtype != _F32 or not isinstance(x, np.ndarray):
        return x.sum(axes, keepdims=keepdims)
    n = 1
    for axis in axes:
        n *= x.shape[axis]
    if n <= _FEW or not x.size or (axes == tuple(range(x.ndim - len(axes), x.ndim)) and _is_dense(x, len(axes))):
        return x.sum(axes, keepdims=keepdims)  # few, or summed pairwise by NumPy
    native = sum_natively(x, axes, keepdims=keepdims)
    if native is not None:
        return native
    if (x.size if 0 in axes else x.size // len(x)) <= _SMALL:  # per image, so that its sums do not depend on the batch
        return x.sum(axes, dtype=np.float64, keepdims=keepdims).astype(_F32)
    order = [axis for axis in range(x.ndim) if x.shape[axis] != 1]
    order.sort(key=lambda axis: -abs(x.strides[axis]))  # in memory order, the innermost last
    sizes, summed = _runs(x, order, axes)
    if summed == [len(sizes) - 1]:
        return x.sum(axes, keepdims=keepdims)  # summed pairwise by NumPy
    y = _without(x.transpose(*order, *[k for k in range(x.ndim) if x.shape[k] == 1]).reshape(sizes), summed)
    rest = [axis for axis in order if axis not in axes]
    if rest:
        y = y.reshape([x.shape[axis] for axis in rest]).transpose(np.argsort(rest))
    shape = [1 if axis in axes else x.shape[axis] for axis in range(x.ndim) if keepdims or axis not in axes]
    return y.reshape(shape) if shape else y


def _is_dense(x: np.ndarray, n_axis: int) -> bool:
    """Whether the last axes are contiguous, so that an image of a batch is summed as in the batch."""
    return x.flags.c_contiguous or x[(0,) * (x.ndim - n_axis)].flags.c_contiguous


def running_sum(x: Array, axis: int) -> Array:
    """The running sums of x along `axis`, from 0; of float32 on the CPU added in float64."""
    if x.dtype != _F32 or not isinstance(x, np.ndarray):
        return x.cumsum(axis)
    y = running_sum_natively(x, axis) if x.size else None
    return x.cumsum(axis, dtype=np.float64).astype(_F32) if y is None else y  # running sums are sequential anyway


def _runs(x: np.ndarray, order: Sequence[int], axes: Sequence[int]) -> tuple[list[int], list[int]]:
    """The sizes of x's axes in that order, adjacent contiguous axes merged, and which of them are summed."""
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
    """x summed along several axes; x's axes are in memory order."""
    if summed[-1] == x.ndim - 1 and x.shape[-1] <= _FEW:
        summed = [summed[-1], *summed[:-1]]  # a short innermost axis last, so that NumPy's inner loops are longer
    for k in range(len(summed) - 1, -1, -1):
        axis = summed[k]
        x = np.add.reduce(x, axis) if axis == x.ndim - 1 else _folded(x, axis)
        summed = [each - (each > axis) for each in summed]
    return x


def _folded(x: np.ndarray, axis: int) -> np.ndarray:
    """x summed along an axis that is not the innermost."""
    n = x.shape[axis]
    if n <= _FEW:
        return np.add.reduce(x, axis)
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    n_block, length, parallel = _split(n, x[(0,) * (axis + 1)].size)
    body = n_block * length * parallel
    pick = (slice(None),) * axis
    blocks = x[(*pick, slice(body))].reshape(*before, n_block, length, parallel, *after)
    y = np.add.reduce(blocks, axis + 1).reshape(*before, n_block * parallel, *after)
    y = _folded(y, axis)
    return y if body == n else y + _folded(x[(*pick, slice(body, None))], axis)


@functools.lru_cache(1024)
def _split(n: int, inner: int) -> tuple[int, int, int]:
    """Division of n rows of `inner` elements: (blocks, rows summed sequentially, rows in parallel).

    Their product is n if n has suitable divisors.
    """
    length = next((k for k in range(_BLOCK, 5, -1) if n % k == 0), _BLOCK)
    rows = n // length
    most = min(max(_WIDE // max(inner, 1), 1), rows)
    parallel = next((k for k in range(most, most // 2, -1) if rows % k == 0), most)
    return rows // parallel, length, parallel
