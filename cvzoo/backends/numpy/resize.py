"""Photos and feature maps at another size."""

import functools
import math

import numpy as np

from cvzoo.backends.abstract import Pair
from cvzoo.backends.in_float32 import in_float32
from cvzoo.backends.in_threads import in_threads
from cvzoo.errors.exceptions import ValueRangeError

__all__ = ["resize_2d", "resize_2d_grad"]

_STRIP = 1 << 17  # numbers of the result that a thread makes at a time


@functools.lru_cache(256)
def axis_taps(n_in: int, n_out: int, mode: str, align_corners: bool, antialias: bool) -> tuple[np.ndarray, np.ndarray]:
    """Which pixels of an axis make each output pixel, and how much: (n_out, T) int64 and (n_out, T) float64."""
    if mode == "nearest":
        return (np.arange(n_out) * n_in // n_out)[:, None], np.ones((n_out, 1))
    if mode != "bilinear":
        raise ValueRangeError(f"resize: there is no mode {mode!r}", expected="nearest or bilinear")
    i = np.arange(n_out)
    if align_corners:
        scale = (n_in - 1) / (n_out - 1) if n_out > 1 else 0.0
        centre = i * scale
    else:
        scale = n_in / n_out
        centre = (i + 0.5) * scale - 0.5
    if not (antialias and scale > 1):
        centre = np.clip(centre, 0, n_in - 1)
        low = np.minimum(np.floor(centre).astype(np.int64), n_in - 1)
        part = centre - low
        return np.stack([low, np.minimum(low + 1, n_in - 1)], 1), np.stack([1 - part, part], 1)
    first = np.floor(centre - scale).astype(np.int64)
    taps = first[:, None] + np.arange(int(np.ceil(2 * scale)) + 2)
    weights = np.maximum(1 - np.abs(taps - centre[:, None]) / scale, 0) * ((taps >= 0) & (taps < n_in))
    return np.clip(taps, 0, n_in - 1), weights / weights.sum(1, keepdims=True)


def axis_matrix(n_in: int, n_out: int, mode: str, align_corners: bool, antialias: bool, dtype: np.dtype) -> np.ndarray:
    """(n_out, n_in): the weights of axis_taps as a matrix."""
    index, weights = axis_taps(n_in, n_out, mode, align_corners, antialias)
    matrix = np.zeros((n_out, n_in))
    np.add.at(matrix, (np.arange(n_out)[:, None], index), weights)
    return matrix.astype(dtype)


def _along(x: np.ndarray, axis: int, index: np.ndarray, weights: np.ndarray) -> np.ndarray:
    shape = [1] * x.ndim
    shape[axis] = -1
    if index.shape[1] == 1:
        return x.take(index[:, 0], axis)
    weights = weights.astype(x.dtype)
    y = x.take(index[:, 0], axis) * weights[:, 0].reshape(shape)
    for t in range(1, index.shape[1]):
        y += x.take(index[:, t], axis) * weights[:, t].reshape(shape)
    return y


@in_float32
def resize_2d(x: np.ndarray, size: Pair, *, mode: str, align_corners: bool, antialias: bool) -> np.ndarray:
    """As AbstractBackend.resize_2d says; "nearest" has no use for the other two settings."""
    x = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    if x.dtype.kind != "f" and mode != "nearest":
        x = x.astype(np.float32)
    axes = [
        None if n_in == n_out else axis_taps(n_in, n_out, mode, align_corners, antialias)
        for n_in, n_out in zip(x.shape[1:3], size)
    ]
    y = np.empty((len(x), *size, x.shape[3]), x.dtype)

    def work(part: tuple[int, slice]) -> None:
        i, rows = part
        strip = x[i : i + 1, rows] if axes[0] is None else _along(x[i : i + 1], 1, *[each[rows] for each in axes[0]])
        y[i, rows] = (strip if axes[1] is None else _along(strip, 2, *axes[1]))[0]

    # strips that stay in a cache on their way
    step = max(_STRIP // max(math.prod(y.shape[2:]), 1), 1)
    in_threads([(i, slice(k, k + step)) for i in range(len(x)) for k in range(0, size[0], step)], work)
    return y.transpose(0, 3, 1, 2)


@in_float32
def resize_2d_grad(gy: np.ndarray, size: Pair, *, mode: str, align_corners: bool, antialias: bool) -> np.ndarray:
    """As AbstractBackend.resize_2d_grad says."""
    b, c, oh, ow = gy.shape
    h, w = size
    rows = axis_matrix(h, oh, mode, align_corners, antialias, gy.dtype)
    columns = axis_matrix(w, ow, mode, align_corners, antialias, gy.dtype)
    gx = np.ascontiguousarray(gy.transpose(0, 2, 3, 1))  # (B, OH, OW, C)
    gx = (rows.T @ gx.reshape(b, oh, ow * c)).reshape(b * h, ow, c)
    return (columns.T @ gx).reshape(b, h, w, c).transpose(0, 3, 1, 2)
