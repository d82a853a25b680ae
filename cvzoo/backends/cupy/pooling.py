"""Max and average pooling by kernels/pooling.cu, and upsampling by the indices of maxima."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.cuda.layout import as_channels, can_vectorize, lanes_for, pixel_rows
from cvzoo.backends.cuda.scatter import add_pixels, take_pixels
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.cupy.memory import zeros
from cvzoo.backends.float_types import is_float
from cvzoo.backends.gpu_kernels import KernelModule, blocks, suffix
from cvzoo.backends.numpy.windows import out_size
from cvzoo.errors.exceptions import DtypeError
from cvzoo.typing.aliases import Array

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


def _numbers(
    x_size: Pair, size: Pair, channels: int, ksize: Pair, stride: Pair, pad: Pad, n: int
) -> tuple[np.generic, ...]:
    """The kernels' arguments n, c and the geometry of the windows."""
    return (np.int64(n), np.int32(channels)) + tuple(
        np.int32(v) for v in (*x_size, *size, *ksize, *stride, pad[0], pad[2])
    )


def _groups(shape: Sequence[int]) -> int:
    """Number of groups of eight channels over all pixels of (B, C, H, W); a thread computes one."""
    b, c, h, w = shape
    return b * h * w * -(-c // 8)


def _as_floats(x: Array) -> Array:
    return x if is_float(x.dtype) else x.astype(np.float64)


def _as_comparable(x: Array) -> Array:
    """x in a dtype that the kernels of max pooling support, with the same values."""
    if is_float(x.dtype):
        return x
    if x.dtype == np.uint64:
        raise DtypeError(
            "max_pool_2d on a GPU does not support this dtype", expected="floats or integers up to int64", got=x.dtype
        )
    return x.astype(np.int64)


def _index_dtype(ksize: Pair) -> tuple[str, type[np.signedinteger]]:
    """The suffix and the type of the smallest integers that index the pixels of a window."""
    n = ksize[0] * ksize[1]
    return ("i8", np.int8) if n <= 128 else ("i16", np.int16) if n <= 32768 else ("i32", np.int32)


def max_pool_2d(x: Array, *, ksize: Pair, stride: Pair, pad: Pad, keep: bool) -> tuple[Array, Array | None]:
    """See `AbstractBackend.max_pool_2d`. A NaN in a window is its maximum."""
    xp = cupy()
    size = out_size(x.shape[2:], ksize, stride, pad)
    b, c = x.shape[:2]
    rows = pixel_rows(_as_comparable(x))
    y = xp.empty((b, *size, c), rows.dtype)
    name, dtype = _index_dtype(ksize)
    argmax = xp.empty(y.shape, dtype) if keep else None
    if y.size:
        n = _groups((b, c, *size))
        _KERNELS.launch(
            f"max_pool_{name}_{suffix(rows.dtype)}",
            blocks(n),
            _BLOCK,
            (rows, y, argmax, *_numbers(x.shape[2:], size, c, ksize, stride, pad, n), can_vectorize(c, rows)),
        )
    if not is_float(x.dtype):
        # windows that cover only padding have the maximum -infinity
        y = xp.maximum(y, 0 if x.dtype == bool else np.iinfo(x.dtype).min)
    return as_channels(y.astype(x.dtype, copy=False)), argmax


def max_pool_2d_grad(gy: Array, state: Array, x_shape: Sequence[int], *, ksize: Pair, stride: Pair, pad: Pad) -> Array:
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
            f"max_pool_gradient_{_index_dtype(ksize)[0]}_{suffix(rows.dtype)}",
            blocks(n),
            _BLOCK,
            (rows, cupy().ascontiguousarray(state), gx, *numbers, can_vectorize(c, rows)),
        )
    return as_channels(gx.astype(gy.dtype, copy=False))


def max_pool_2d_indices(x: Array, *, ksize: Pair, stride: Pair, pad: Pad) -> Array:
    """See `AbstractBackend.max_pool_2d_indices`; 0 for windows that cover only padding."""
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
            (rows, y, *_numbers(x.shape[2:], size, c, ksize, stride, pad, n), can_vectorize(c, rows)),
        )
    return as_channels(y)


def average_pool_2d(x: Array, *, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool) -> Array:
    """See `AbstractBackend.average_pool_2d`."""
    xp = cupy()
    size = out_size(x.shape[2:], ksize, stride, pad)
    b, c, h, w = x.shape
    rows = pixel_rows(_as_floats(x))
    y = xp.empty((b, *size, c), rows.dtype)
    vectorized = can_vectorize(c, rows)
    if not y.size:
        pass
    elif size == (1, 1) and tuple(ksize) == (h, w) and tuple(pad) == (0, 0, 0, 0) and b < 65536:
        lanes = lanes_for(c)
        _KERNELS.launch(
            f"average_map_{suffix(rows.dtype)}",
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
    gy: Array, x_shape: Sequence[int], *, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool
) -> Array:
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
            (rows, gx, *numbers, np.int32(count_pad), can_vectorize(c, rows)),
        )
    return as_channels(gx.astype(gy.dtype, copy=False))


def upsampling_2d(x: Array, indices: Array, size: Pair) -> Array:
    """See `AbstractBackend.upsampling_2d`; indices outside of the plane are ignored."""
    b, c = x.shape[:2]
    h, w = size
    y = zeros((b, c, h, w), x.dtype)
    flat = y.transpose(0, 2, 3, 1).reshape(b, h * w, c)  # a view: the result is channels-last
    add_pixels(flat, _by_pixel(indices, np.int64), _by_pixel(x))
    return y


def upsampling_2d_grad(gy: Array, indices: Array) -> Array:
    """See `AbstractBackend.upsampling_2d_grad`; indices outside of the plane give 0."""
    b, c, oh, ow = indices.shape
    return take_pixels(_by_pixel(gy), _by_pixel(indices, np.int64)).reshape(b, oh, ow, c).transpose(0, 3, 1, 2)


def _by_pixel(x: Array, dtype: npt.DTypeLike | None = None) -> Array:
    """(B, H * W, C) of (B, C, H, W), contiguous."""
    b, c = x.shape[:2]
    return cupy().ascontiguousarray(x.transpose(0, 2, 3, 1).reshape(b, -1, c), dtype)
