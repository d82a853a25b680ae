"""Maxima and means over windows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.numpy.windows import out_size, padded_nhwc, taps, unpadded


def _lowest(dtype: np.dtype) -> float:
    return -np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min


def _first_maximum(x: np.ndarray, ksize: Pair, stride: Pair, pad: Pad) -> tuple[np.ndarray, np.ndarray]:
    """The maximum of each window (B, OH, OW, C) and the number of the pixel where it is (-1: nothing but padding)."""
    size = out_size(x.shape[2:], ksize, stride, pad)
    padded = padded_nhwc(x, pad, _lowest(x.dtype))
    inside = padded_nhwc(np.ones((1, 1, *x.shape[2:]), bool), pad, False)
    y = np.full((x.shape[0], *size, x.shape[1]), _lowest(x.dtype), x.dtype)
    where = np.full(y.shape, -1, np.int32)
    photos = taps(padded, ksize, stride, size)
    masks = taps(inside, ksize, stride, size)
    for (i, j, seen), (_, _, is_photo) in zip(photos, masks):
        # the second term lets a true -inf be found, the third lets NaN win as it does in numpy.max
        better = (seen > y) | ((where < 0) & is_photo) | ((seen != seen) & (y == y))
        np.copyto(y, seen, where=better)
        where[better] = i * ksize[1] + j
    return y, where


def max_pool_2d(x: np.ndarray, *, ksize: Pair, stride: Pair, pad: Pad, keep: bool) -> tuple[np.ndarray, Any]:
    """As AbstractBackend.max_pool_2d says. A NaN in a window is its maximum."""
    if keep:
        y, where = _first_maximum(x, ksize, stride, pad)
        return y.transpose(0, 3, 1, 2), where
    size = out_size(x.shape[2:], ksize, stride, pad)
    y = np.full((x.shape[0], *size, x.shape[1]), _lowest(x.dtype), x.dtype)
    for _, _, seen in taps(padded_nhwc(x, pad, _lowest(x.dtype)), ksize, stride, size):
        np.maximum(y, seen, out=y)
    return y.transpose(0, 3, 1, 2), None


def max_pool_2d_grad(
    gy: np.ndarray, kept: Any, x_shape: Sequence[int], *, ksize: Pair, stride: Pair, pad: Pad
) -> np.ndarray:
    """As AbstractBackend.max_pool_2d_grad says."""
    b, c, h, w = x_shape
    gy = gy.transpose(0, 2, 3, 1)
    gx = np.zeros((b, h + pad[0] + pad[1], w + pad[2] + pad[3], c), gy.dtype)
    for i, j, seen in taps(gx, ksize, stride, gy.shape[1:3]):
        seen += np.where(kept == i * ksize[1] + j, gy, gy.dtype.type(0))
    return unpadded(gx, (h, w), pad)


def max_pool_2d_indices(x: np.ndarray, *, ksize: Pair, stride: Pair, pad: Pad) -> np.ndarray:
    """As AbstractBackend.max_pool_2d_indices says; 0 for a window of nothing but padding."""
    _, where = _first_maximum(x, ksize, stride, pad)
    _, oh, ow, _ = where.shape
    row = where // ksize[1] + (np.arange(oh) * stride[0] - pad[0])[:, None, None]
    column = where % ksize[1] + (np.arange(ow) * stride[1] - pad[2])[:, None]
    flat = np.where(where < 0, 0, row.astype(np.int64) * x.shape[3] + column)
    return flat.transpose(0, 3, 1, 2)


def _divisor(x_size: Pair, size: Pair, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool, dtype: np.dtype) -> Any:
    """By how much a window's sum is divided: a number, or (OH, OW, 1)."""
    if count_pad:
        return dtype.type(ksize[0] * ksize[1])
    counts = []
    for axis in (0, 1):
        start = np.arange(size[axis]) * stride[axis] - pad[2 * axis]
        end = np.minimum(start + ksize[axis], x_size[axis])
        counts.append(np.maximum(end - np.maximum(start, 0), 0))
    # a window of nothing but padding has the mean 0
    return np.maximum(counts[0][:, None, None] * counts[1][:, None], 1).astype(dtype)


def average_pool_2d(x: np.ndarray, *, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool) -> np.ndarray:
    """As AbstractBackend.average_pool_2d says."""
    size = out_size(x.shape[2:], ksize, stride, pad)
    dtype = np.result_type(x.dtype, np.float16)
    y = np.zeros((x.shape[0], *size, x.shape[1]), dtype)
    for _, _, seen in taps(padded_nhwc(x, pad, 0), ksize, stride, size):
        y += seen
    y /= _divisor(x.shape[2:], size, ksize, stride, pad, count_pad, dtype)
    return y.transpose(0, 3, 1, 2)


def average_pool_2d_grad(
    gy: np.ndarray, x_shape: Sequence[int], *, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool
) -> np.ndarray:
    """As AbstractBackend.average_pool_2d_grad says."""
    b, c, h, w = x_shape
    size = gy.shape[2:]
    share = gy.transpose(0, 2, 3, 1) / _divisor((h, w), size, ksize, stride, pad, count_pad, gy.dtype)
    gx = np.zeros((b, h + pad[0] + pad[1], w + pad[2] + pad[3], c), gy.dtype)
    for _, _, seen in taps(gx, ksize, stride, size):
        seen += share
    return unpadded(gx, (h, w), pad)
