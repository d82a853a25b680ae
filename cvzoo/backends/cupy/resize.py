"""Resizing of images and feature maps.

The tables of indices and weights are those of backends/numpy/resize.py, cached per pair of sizes and device. A pixel
with weight 0 is not read, so that NaN in it has no effect.
"""

import functools
from typing import NamedTuple

import numpy as np

from cvzoo.backends.abstract import Pair
from cvzoo.backends.arrays import device_address
from cvzoo.backends.cuda.elementwise import are_floats
from cvzoo.backends.cupy.library import Cupy, cupy
from cvzoo.backends.gpu_kernels import KernelModule, blocks, suffix
from cvzoo.backends.numpy.resize import axis_matrix, axis_taps
from cvzoo.backends.transfer import constants
from cvzoo.typing.aliases import Array

__all__ = ["resize_2d", "resize_2d_grad"]

_KERNELS = KernelModule("resize")


class _Axis(NamedTuple):
    """The resizing of one axis; backwards: for the gradient; wide: the dtype of weights."""

    n_in: int
    n_out: int
    mode: str
    align_corners: bool
    antialias: bool
    wide: str
    backwards: bool = False

    def tables(self) -> tuple[Array, Array]:
        """Indices and weights of the input pixels on the current device, a row for each output pixel."""
        index = constants.get(("resize_index", self), lambda: _taps(self)[0])
        return index, constants.get(("resize_weights", self), lambda: _taps(self)[1])


@functools.lru_cache(256)
def _taps(axis: _Axis) -> tuple[np.ndarray, np.ndarray]:
    """(n_out, T) int32 indices of each pixel's input pixels, and their weights; backwards (n_in, T), padded by 0."""
    n_in, n_out, mode, align_corners, antialias, wide, backwards = axis
    if not backwards:
        if n_in == n_out:
            return np.arange(n_out, dtype=np.int32)[:, None], np.ones((n_out, 1), wide)
        index, weights = axis_taps(n_in, n_out, mode, align_corners, antialias)
        return index.astype(np.int32), weights.astype(wide)
    matrix = axis_matrix(n_in, n_out, mode, align_corners, antialias, np.dtype(wide)).T
    taps = [np.flatnonzero(row) for row in matrix]
    most = max(1, max(len(each) for each in taps))
    index = np.zeros((n_in, most), np.int32)
    weights = np.zeros((n_in, most), wide)
    for i, each in enumerate(taps):
        index[i, : len(each)] = each
        weights[i, : len(each)] = matrix[i, each]
    return index, weights


def resize_2d(x: Array, size: Pair, *, mode: str, align_corners: bool, antialias: bool) -> Array:
    """See `AbstractBackend.resize_2d`; "nearest" ignores the other two settings."""
    settings = (mode, bool(align_corners), bool(antialias))
    if not are_floats(x) and mode != "nearest":
        x = x.astype(np.float32)
    wide = "float64" if x.dtype == np.float64 else "float32"
    tables = [_Axis(n_in, n_out, *settings, wide).tables() for n_in, n_out in zip(x.shape[2:], size)]
    if not are_floats(x):
        rows, columns = [index[:, 0] for index, _ in tables]
        return x.transpose(0, 2, 3, 1).take(rows, axis=1).take(columns, axis=2).transpose(0, 3, 1, 2)
    return _gathered(cupy(), x, (size[0], size[1]), tables)


def resize_2d_grad(gy: Array, size: Pair, *, mode: str, align_corners: bool, antialias: bool) -> Array:
    """See `AbstractBackend.resize_2d_grad`; in a fixed order of summation."""
    settings = (mode, bool(align_corners), bool(antialias))
    wide = "float64" if gy.dtype == np.float64 else "float32"
    tables = [_Axis(n_in, n_out, *settings, wide, True).tables() for n_in, n_out in zip(size, gy.shape[2:])]
    return _gathered(cupy(), gy, (size[0], size[1]), tables)


def _gathered(xp: Cupy, x: Array, size: Pair, tables: list[tuple[Array, Array]]) -> Array:
    """y (B, C, OH, OW) of x (B, C, H, W) by the tables of rows and columns."""
    b, c, h, w = x.shape
    y = xp.empty((b, *size, c), x.dtype)
    if y.size:
        flat = xp.ascontiguousarray(x.transpose(0, 2, 3, 1))
        (rows, row_weights), (columns, column_weights) = tables
        width = 16 // x.itemsize
        packed = c % width == 0 and device_address(flat) % 16 == 0
        count = y.size // width if packed else y.size
        _KERNELS.launch(
            f"resize{'_packed' if packed else ''}_{suffix(x.dtype)}",
            blocks(count, most=2**31 - 1),
            (256, 1, 1),
            (
                flat,
                y,
                rows,
                row_weights,
                np.int32(rows.shape[1]),
                columns,
                column_weights,
                np.int32(columns.shape[1]),
                np.int64(count),
                *[np.int32(n) for n in (h, w, *size, c)],
            ),
        )
    return y.transpose(0, 3, 1, 2)
