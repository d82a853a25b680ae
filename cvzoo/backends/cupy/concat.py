"""Concatenation of arrays, up to eight in one launch."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.arrays import device_address
from cvzoo.backends.cuda.layout import order_of
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.gpu_kernels import KernelModule, blocks
from cvzoo.typing.aliases import Array

__all__ = ["concat"]

_KERNELS = KernelModule("concat")
_AT_ONCE = 8  # arrays per launch


def concat(arrays: Sequence[Array], *, axis: int) -> Array:
    """See `AbstractBackend.concat`."""
    xp = cupy()
    first = arrays[0]
    axis %= first.ndim
    shape = list(first.shape)
    shape[axis] = sum([each.shape[axis] for each in arrays])
    dtype = first.dtype
    if any(each.dtype != dtype for each in arrays):
        dtype = np.result_type(*[each.dtype for each in arrays])
    if first.ndim == 4:
        b, c, h, w = shape
        y = xp.empty((b, h, w, c), dtype).transpose(0, 3, 1, 2)
    else:
        y = xp.empty(tuple(shape), dtype)
    order = order_of(y.shape, y.strides)
    back = np.argsort(order).tolist()
    parts = [
        xp.ascontiguousarray(each.astype(dtype, copy=False).transpose(order)).transpose(back)
        for each in arrays
        if each.size
    ]
    if parts:
        inner = y.itemsize
        for other in order[order.index(axis) + 1 :]:
            inner *= y.shape[other]
        _copy(parts, y, axis, inner)
    return y


def _copy(parts: Sequence[Array], y: Array, axis: int, inner: int) -> None:
    """Copy the parts, contiguous in y's memory order, into y; inner: bytes of one step along `axis`."""
    widths = [each.shape[axis] * inner for each in parts]
    pitch = y.shape[axis] * inner
    outer = y.nbytes // pitch
    bits = 16 | pitch
    for each, width in zip(parts, widths):
        bits |= width | device_address(each)
    unit = bits & -bits
    begin = 0
    for k in range(0, len(parts), _AT_ONCE):
        some, ends, end = list(parts[k : k + _AT_ONCE]), [], 0
        for width in widths[k : k + _AT_ONCE]:
            end += width // unit
            ends.append(end)
        spare = _AT_ONCE - len(some)
        _KERNELS.launch(
            f"concat_{unit}",
            blocks(outer * end, most=2**31 - 1),
            (256, 1, 1),
            (
                y,
                *some,
                *[None] * spare,
                *[np.int64(n) for n in [*ends, *[end] * spare]],
                np.int64(outer),
                np.int64(pitch // unit),
                np.int64(begin),
            ),
        )
        begin += end
