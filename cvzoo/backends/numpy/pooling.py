"""Max pooling, average pooling and max unpooling, with their gradients."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.float_types import in_float32
from cvzoo.backends.interface import State, as_pair
from cvzoo.backends.numpy.memory import zeros
from cvzoo.backends.numpy.windows import out_size, padded_nhwc, taps, unpadded

__all__ = [
    "average_pool_2d",
    "average_pool_2d_grad",
    "max_pool_2d",
    "max_pool_2d_grad",
    "max_pool_2d_indices",
    "upsampling_2d",
    "upsampling_2d_grad",
]

FEW = 25  # pixels whose mean, summed sequentially, is off by 4e-7 at most; of 49 by up to 7.6e-7
_LAST = 49  # means of a map's rectangles that may be summed so
_MANY = 1024  # pixels of a map where the first pass over it is what takes time: it is over larger rectangles
_TILE = 6  # sides of a rectangle in a large window at most


def _lowest(dtype: np.dtype) -> float:
    return -np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min


def _first_maximum(x: np.ndarray, ksize: Pair, stride: Pair, pad: Pad) -> tuple[np.ndarray, np.ndarray]:
    """The maximum of each window (B, OH, OW, C) and its index in the window (-1: only padding)."""
    size = out_size(x.shape[2:], ksize, stride, pad)
    padded = padded_nhwc(x, pad, _lowest(x.dtype))
    inside = padded_nhwc(np.ones((1, 1, *x.shape[2:]), bool), pad, False)
    y = np.full((x.shape[0], *size, x.shape[1]), _lowest(x.dtype), x.dtype)
    # indices within the window, so that int32 suffices for any map
    where = np.full(y.shape, -1, np.int32)
    images = taps(padded, ksize, stride, size)
    masks = taps(inside, ksize, stride, size)
    for (i, j, tap), (_, _, is_image) in zip(images, masks):
        # the second term selects a true -inf, the third propagates NaN as numpy.max does
        better = (tap > y) | ((where < 0) & is_image) | ((tap != tap) & (y == y))
        np.copyto(y, tap, where=better)
        where[better] = i * ksize[1] + j
    return y, where


@in_float32
def max_pool_2d(x: np.ndarray, *, ksize: Pair, stride: Pair, pad: Pad, keep: bool) -> tuple[np.ndarray, State]:
    """See `AbstractBackend.max_pool_2d`. A NaN in a window is its maximum."""
    if keep:
        y, where = _first_maximum(x, ksize, stride, pad)
        return y.transpose(0, 3, 1, 2), where
    size = out_size(x.shape[2:], ksize, stride, pad)
    y = np.full((x.shape[0], *size, x.shape[1]), _lowest(x.dtype), x.dtype)
    for _, _, tap in taps(padded_nhwc(x, pad, _lowest(x.dtype)), ksize, stride, size):
        np.maximum(y, tap, out=y)
    return y.transpose(0, 3, 1, 2), None


@in_float32
def max_pool_2d_grad(
    gy: np.ndarray, state: State, x_shape: Sequence[int], *, ksize: Pair, stride: Pair, pad: Pad
) -> np.ndarray:
    """See `AbstractBackend.max_pool_2d_grad`."""
    b, c, h, w = x_shape
    gy = gy.transpose(0, 2, 3, 1)
    gx = np.zeros((b, h + pad[0] + pad[1], w + pad[2] + pad[3], c), gy.dtype)
    for i, j, tap in taps(gx, ksize, stride, gy.shape[1:3]):
        tap += np.where(state == i * ksize[1] + j, gy, gy.dtype.type(0))
    return unpadded(gx, (h, w), pad)


@in_float32(rounds=False)
def max_pool_2d_indices(x: np.ndarray, *, ksize: Pair, stride: Pair, pad: Pad) -> np.ndarray:
    """See `AbstractBackend.max_pool_2d_indices`; 0 for a window of nothing but padding."""
    _, where = _first_maximum(x, ksize, stride, pad)
    _, oh, ow, _ = where.shape
    row = where // ksize[1] + (np.arange(oh) * stride[0] - pad[0])[:, None, None]
    column = where % ksize[1] + (np.arange(ow) * stride[1] - pad[2])[:, None]
    flat = np.where(where < 0, 0, row.astype(np.int64) * x.shape[3] + column)
    return flat.transpose(0, 3, 1, 2)


def _divisor(
    x_size: Pair, size: Pair, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool, dtype: np.dtype
) -> np.ndarray | np.generic:
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


class Stage(NamedTuple):
    """One of the poolings of which a pooling with large windows is made: means of means keep their digits, as sums of
    few numbers each do. `factor` is what its means are multiplied by, where padding of ours was counted.
    """

    ksize: Pair
    stride: Pair
    pad: Pad
    factor: float = 1.0


@functools.lru_cache(1024)
def average_stages(size: Pair, ksize: Pair, stride: Pair, pad: Pad) -> tuple[Stage, ...]:
    """The stages of a mean over windows of a map of `size`; one where the windows are small.

    A mean over a whole map is the mean of rectangles' means, and so on; over tiles likewise, where their sizes have
    divisors. Other large windows are columns first, then rows.
    """
    if ksize[0] * ksize[1] <= FEW:
        return (Stage(ksize, stride, pad),)
    if ksize == size and not any(pad):
        return _of_whole_map(size)
    if ksize == stride and not any(pad) and size[0] % ksize[0] == 0 and size[1] % ksize[1] == 0:
        inner = as_pair([max(k for k in range(1, _TILE + 1) if n % k == 0) for n in ksize])
        if inner != (1, 1):
            rest = (ksize[0] // inner[0], ksize[1] // inner[1])
            size = (size[0] // inner[0], size[1] // inner[1])
            return (Stage(inner, inner, pad), *average_stages(size, rest, rest, pad))
    if not any(pad) and all(1 < step < k and k % step == 0 for k, step in zip(ksize, stride)):
        tiles = (size[0] // stride[0], size[1] // stride[1])  # windows of whole tiles: each pixel is read once
        rest = (ksize[0] // stride[0], ksize[1] // stride[1])
        return (*average_stages(size, stride, stride, pad), *average_stages(tiles, rest, (1, 1), pad))
    if 1 in ksize:
        return (Stage(ksize, stride, pad),)
    columns = Stage((ksize[0], 1), (stride[0], 1), (*pad[:2], 0, 0))
    return columns, Stage((1, ksize[1]), (1, stride[1]), (0, 0, *pad[2:]))


def _of_whole_map(size: Pair) -> tuple[Stage, ...]:
    stages = []
    counted = 1
    h, w = size
    while h * w > _LAST:
        kh, kw = (8 if h * w > _MANY else 4), 4
        kh, kw = (min(h, kh if w > 1 else 16), min(w, kw if h > 1 else 16))
        end = (-h % kh, -w % kw)
        stages.append(Stage((kh, kw), (kh, kw), (0, end[0], 0, end[1])))
        h, w, counted = -(-h // kh), -(-w // kw), counted * kh * kw
    return *stages, Stage((h, w), (1, 1), (0, 0, 0, 0), counted * h * w / (size[0] * size[1]))


@in_float32
def average_pool_2d(x: np.ndarray, *, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool) -> np.ndarray:
    """See `AbstractBackend.average_pool_2d`."""
    counts = count_pad or not any(pad)  # stages pad where the caller did not, and correct for it by `factor`
    for stage in average_stages(tuple(x.shape[2:]), ksize, stride, pad):
        x = _average(x, stage, counts)
    return x


def _average(x: np.ndarray, stage: Stage, count_pad: bool) -> np.ndarray:
    ksize, stride, pad, factor = stage
    size = out_size(x.shape[2:], ksize, stride, pad)
    dtype = np.result_type(x.dtype, np.float16)
    y = np.zeros((x.shape[0], *size, x.shape[1]), dtype)
    of_row = y if ksize[0] * ksize[1] <= FEW else np.zeros_like(y)  # larger windows row by row: fewer roundings
    for _, j, tap in taps(padded_nhwc(x, pad, 0), ksize, stride, size):
        of_row += tap
        if of_row is not y and j == ksize[1] - 1:
            y += of_row
            of_row[...] = 0
    y /= _divisor(x.shape[2:], size, ksize, stride, pad, count_pad, dtype)
    if factor != 1:
        y *= dtype.type(factor)
    return y.transpose(0, 3, 1, 2)


@in_float32
def average_pool_2d_grad(
    gy: np.ndarray, x_shape: Sequence[int], *, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool
) -> np.ndarray:
    """See `AbstractBackend.average_pool_2d_grad`."""
    stages = average_stages(as_pair(x_shape[2:]), ksize, stride, pad)
    sizes = [as_pair(x_shape[2:])]
    for stage in stages[:-1]:
        sizes.append(out_size(sizes[-1], *stage[:3]))
    for stage, size in zip(reversed(stages), reversed(sizes)):
        gy = _average_grad(gy, size, stage, count_pad or not any(pad))
    return gy


def _average_grad(gy: np.ndarray, x_size: Pair, stage: Stage, count_pad: bool) -> np.ndarray:
    ksize, stride, pad, factor = stage
    (h, w), size = x_size, gy.shape[2:]
    share = gy.transpose(0, 2, 3, 1) / _divisor((h, w), size, ksize, stride, pad, count_pad, gy.dtype)
    if factor != 1:
        share *= gy.dtype.type(factor)
    gx = np.zeros((gy.shape[0], h + pad[0] + pad[1], w + pad[2] + pad[3], gy.shape[1]), gy.dtype)
    for _, _, tap in taps(gx, ksize, stride, size):
        tap += share
    return unpadded(gx, (h, w), pad)


def upsampling_2d(x: np.ndarray, indices: np.ndarray, size: Pair) -> np.ndarray:
    """See `AbstractBackend.upsampling_2d`."""
    b, c = x.shape[:2]
    h, w = size
    y = zeros((b, c, h, w), x.dtype)
    lying = y.transpose(0, 2, 3, 1).reshape(b, h * w, c)  # a view: the result lies channels-last
    np.add.at(lying, (np.arange(b)[:, None, None], _by_pixel(indices), np.arange(c)), _by_pixel(x))
    return y


def upsampling_2d_grad(gy: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """See `AbstractBackend.upsampling_2d_grad`."""
    b, c, oh, ow = indices.shape
    y = np.take_along_axis(_by_pixel(gy), _by_pixel(indices), axis=1)
    return y.reshape(b, oh, ow, c).transpose(0, 3, 1, 2)


def _by_pixel(x: np.ndarray) -> np.ndarray:
    """(B, H * W, C) of (B, C, H, W)."""
    b, c = x.shape[:2]
    return x.transpose(0, 2, 3, 1).reshape(b, -1, c)
