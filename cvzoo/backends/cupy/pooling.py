"""Maxima and means over windows, by kernels/pooling.cu, and pixels put back where a maximum was taken from."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.cuda.kernel_module import KernelModule, blocks, suffix
from cvzoo.backends.cuda.layout import are_whole, as_channels, lanes_for, pixel_rows
from cvzoo.backends.cuda.scatter import add_pixels, take_pixels
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.cupy.memory import zeros
from cvzoo.backends.float_types import is_float
from cvzoo.backends.numpy.windows import out_size
from cvzoo.errors.exceptions import DtypeError

__all__ = [
    "average_pool_2d",
    "average_pool_2d_grad",
    "max_pool_2d",
    "max_pool_2d_grad",
    "max_pool_2d_indices",
    "upsampling_2d",
    "upsampling_2d_grad",
]

_KERNELS = KernelModule("pooling")
_BLOCK = (256, 1, 1)


def _numbers(x_size: Pair, size: Pair, channels: int, ksize: Pair, stride: Pair, pad: Pad, photos: int) -> tuple:
    """The arguments n, c and the windows of a kernel that makes `photos` of as many pixels as its caller's grid."""
    return (np.int64(photos), np.int32(channels)) + tuple(
        np.int32(v) for v in (*x_size, *size, *ksize, *stride, pad[0], pad[2])
    )


def _groups(shape: Sequence[int]) -> int:
    """How many groups of eight channels (B, C, H, W) has."""
    b, c, h, w = shape
    return b * h * w * -(-c // 8)


def _as_floats(x: Any) -> Any:
    return x if is_float(x.dtype) else x.astype(np.float64)


def _as_comparable(x: Any) -> Any:
    """x in a dtype that the kernels of maxima know, with the same values."""
    if is_float(x.dtype):
        return x
    if x.dtype == np.uint64:
        raise DtypeError("max_pool_2d of a GPU's array", expected="floats or integers up to int64", got=x.dtype)
    return x.astype(np.int64)


def _where_dtype(ksize: Pair) -> tuple[str, Any]:
    """The name and the dtype of the smallest integers that number a window's pixels."""
    n = ksize[0] * ksize[1]
    return ("i8", np.int8) if n <= 128 else ("i16", np.int16) if n <= 32768 else ("i32", np.int32)


def max_pool_2d(x: Any, *, ksize: Pair, stride: Pair, pad: Pad, keep: bool) -> tuple[Any, Any]:
    """See `AbstractBackend.max_pool_2d`. A NaN in a window is its maximum."""
    xp = cupy()
    size = out_size(x.shape[2:], ksize, stride, pad)
    b, c = x.shape[:2]
    rows = pixel_rows(_as_comparable(x))
    y = xp.empty((b, *size, c), rows.dtype)
    name, dtype = _where_dtype(ksize)
    argmax = xp.empty(y.shape, dtype) if keep else None
    if y.size:
        n = _groups((b, c, *size))
        _KERNELS.launch(
            f"max_pool_{name}_{suffix(rows.dtype)}",
            blocks(n),
            _BLOCK,
            (rows, y, argmax, *_numbers(x.shape[2:], size, c, ksize, stride, pad, n), are_whole(c, rows)),
        )
    if not is_float(x.dtype):
        # where a window covers nothing but padding
        y = xp.maximum(y, 0 if x.dtype == bool else np.iinfo(x.dtype).min)
    return as_channels(y.astype(x.dtype, copy=False)), argmax


def max_pool_2d_grad(gy: Any, state: Any, x_shape: Sequence[int], *, ksize: Pair, stride: Pair, pad: Pad) -> Any:
    """See `AbstractBackend.max_pool_2d_grad`."""
    b, c, h, w = x_shape
    rows = pixel_rows(_as_floats(gy))
    gx = cupy().empty((b, h, w, c), rows.dtype)
    if not gy.size:
        gx.fill(0)
    elif gx.size:
        n = _groups(x_shape)
        numbers = _numbers((h, w), gy.shape[2:], c, ksize, stride, pad, n)
        _KERNELS.launch(
            f"max_pool_gradient_{_where_dtype(ksize)[0]}_{suffix(rows.dtype)}",
            blocks(n),
            _BLOCK,
            (rows, cupy().ascontiguousarray(state), gx, *numbers, are_whole(c, rows)),
        )
    return as_channels(gx.astype(gy.dtype, copy=False))


def max_pool_2d_indices(x: Any, *, ksize: Pair, stride: Pair, pad: Pad) -> Any:
    """See `AbstractBackend.max_pool_2d_indices`; 0 for a window of nothing but padding."""
    size = out_size(x.shape[2:], ksize, stride, pad)
    b, c = x.shape[:2]
    rows = pixel_rows(_as_comparable(x))
    y = cupy().empty((b, *size, c), np.int64)
    if y.size:
        n = _groups((b, c, *size))
        _KERNELS.launch(
            f"max_pool_indices_{suffix(rows.dtype)}",
            blocks(n),
            _BLOCK,
            (rows, y, *_numbers(x.shape[2:], size, c, ksize, stride, pad, n), are_whole(c, rows)),
        )
    return as_channels(y)


def average_pool_2d(x: Any, *, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool) -> Any:
    """See `AbstractBackend.average_pool_2d`."""
    xp = cupy()
    size = out_size(x.shape[2:], ksize, stride, pad)
    b, c, h, w = x.shape
    rows = pixel_rows(_as_floats(x))
    y = xp.empty((b, *size, c), rows.dtype)
    vectorized = are_whole(c, rows)
    if not y.size:
        pass
    elif size == (1, 1) and tuple(ksize) == (h, w) and tuple(pad) == (0, 0, 0, 0) and b < 65536:
        lanes = lanes_for(c)
        _KERNELS.launch(
            f"average_photo_{suffix(rows.dtype)}",
            (-(-c // (lanes * 8)), b, 1),
            _BLOCK,
            (rows, y, np.int64(h * w), np.int32(c), np.int32(lanes), vectorized),
        )
    else:
        n = _groups((b, c, *size))
        numbers = _numbers((h, w), size, c, ksize, stride, pad, n)
        _KERNELS.launch(
            f"average_pool_{suffix(rows.dtype)}",
            blocks(n),
            _BLOCK,
            (rows, y, *numbers, np.int32(count_pad), vectorized),
        )
    if not is_float(x.dtype):
        y = y.astype(np.result_type(x.dtype, np.float16))
    return as_channels(y)


def average_pool_2d_grad(
    gy: Any, x_shape: Sequence[int], *, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool
) -> Any:
    """See `AbstractBackend.average_pool_2d_grad`."""
    b, c, h, w = x_shape
    rows = pixel_rows(_as_floats(gy))
    gx = cupy().empty((b, h, w, c), rows.dtype)
    if not gy.size:
        gx.fill(0)
    elif gx.size:
        n = _groups(x_shape)
        numbers = _numbers((h, w), gy.shape[2:], c, ksize, stride, pad, n)
        _KERNELS.launch(
            f"average_pool_gradient_{suffix(rows.dtype)}",
            blocks(n),
            _BLOCK,
            (rows, gx, *numbers, np.int32(count_pad), are_whole(c, rows)),
        )
    return as_channels(gx.astype(gy.dtype, copy=False))


def upsampling_2d(x: Any, indices: Any, size: Pair) -> Any:
    """See `AbstractBackend.upsampling_2d`; places outside of the plane are left out."""
    b, c = x.shape[:2]
    h, w = size
    y = zeros((b, c, h, w), x.dtype)
    flat = y.transpose(0, 2, 3, 1).reshape(b, h * w, c)  # a view: the result is channels-last
    add_pixels(flat, _by_pixel(indices, np.int64), _by_pixel(x))
    return y


def upsampling_2d_grad(gy: Any, indices: Any) -> Any:
    """See `AbstractBackend.upsampling_2d_grad`; places outside of the plane give 0."""
    b, c, oh, ow = indices.shape
    return take_pixels(_by_pixel(gy), _by_pixel(indices, np.int64)).reshape(b, oh, ow, c).transpose(0, 3, 1, 2)


def _by_pixel(x: Any, dtype: Any = None) -> Any:
    """(B, H * W, C) of (B, C, H, W), contiguous."""
    b, c = x.shape[:2]
    return cupy().ascontiguousarray(x.transpose(0, 2, 3, 1).reshape(b, -1, c), dtype)
