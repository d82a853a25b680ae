"""Weighted means over regions that separate into rows and columns: two small matrix products a region.

Each row of a region's window of a channels-last map is a matrix (w, C) that BLAS reads where it lies: columns come
first, y = Wy . (Wx . row for each row). Its transpose, the gradient, is the same two products the other way round.
"""

from typing import Any

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.backends.dispatch import backend_of
from cvzoo.functions.roi.axis_weights import AxisWeights

# Multiplications that BLAS does in one thread. Larger products would be shared among threads, and waking these for
# each region costs fifty times what they save
_ALONE = 1 << 18


class WindowMeans(FunctionNode):
    """x (B, C, H, W) to (R, C, OH, OW)."""

    def __init__(self, indices: np.ndarray, rows: AxisWeights, columns: AxisWeights):
        self.windows = (indices, rows, columns)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        self.map_shape = x.shape
        return (_means(backend_of(x).channels_last(x), *self.windows),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return WindowMeansGrad(self.map_shape, *self.windows).apply(gys)


class WindowMeansGrad(FunctionNode):
    """gy (R, C, OH, OW) to gx (B, C, H, W): the transpose."""

    def __init__(self, map_shape: tuple[int, ...], indices: np.ndarray, rows: AxisWeights, columns: AxisWeights):
        self.map_shape = map_shape
        self.windows = (indices, rows, columns)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (gy,) = inputs
        backend = backend_of(gy)
        gx = backend.zeros(self.map_shape, gy.dtype)
        _add_spread(backend.channels_last(gy), gx, *self.windows)
        return (gx,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return WindowMeans(*self.windows).apply(gys)


def _windows(indices: np.ndarray, rows: AxisWeights, columns: AxisWeights):
    """Of each region its map, and of its window top, bottom, height, left, right, width."""
    return zip(
        indices.tolist(),
        rows.start.tolist(),
        (rows.start + rows.length).tolist(),
        rows.length.tolist(),
        columns.start.tolist(),
        (columns.start + columns.length).tolist(),
        columns.length.tolist(),
    )


def _means(x: np.ndarray, indices: np.ndarray, rows: AxisWeights, columns: AxisWeights) -> np.ndarray:
    c = x.shape[1]
    maps = list(x.transpose(0, 2, 3, 1))  # (H, W, C) each
    wy, wx = rows.weights.astype(x.dtype, copy=False), columns.weights.astype(x.dtype, copy=False)
    oh, ow = wy.shape[1], wx.shape[1]
    y = np.empty((len(indices), oh, ow * c), x.dtype)
    for r, (i, top, bottom, height, left, right, width) in enumerate(_windows(indices, rows, columns)):
        of_columns = np.empty((height, ow, c), x.dtype)
        _multiply(wx[r, :, :width], maps[i][top:bottom, left:right], of_columns)
        _multiply(wy[r, :, :height], of_columns.reshape(height, ow * c), y[r])
    return y.reshape(-1, oh, ow, c).transpose(0, 3, 1, 2)


def _add_spread(gy: np.ndarray, gx: np.ndarray, indices: np.ndarray, rows: AxisWeights, columns: AxisWeights) -> None:
    """In the order of the regions, so that sums are the same bits in every run."""
    _, c, oh, ow = gy.shape
    maps = list(gx.transpose(0, 2, 3, 1))
    gy = gy.transpose(0, 2, 3, 1).reshape(-1, oh, ow * c)
    wy = rows.weights.astype(gy.dtype, copy=False).transpose(0, 2, 1)
    wx = columns.weights.astype(gy.dtype, copy=False).transpose(0, 2, 1)
    for r, (i, top, bottom, height, left, right, width) in enumerate(_windows(indices, rows, columns)):
        of_rows = np.empty((height, ow * c), gy.dtype)
        _multiply(wy[r, :height], gy[r], of_rows)
        part = np.empty((height, width, c), gy.dtype)
        _multiply(wx[r, :width], of_rows.reshape(height, ow, c), part)
        window = maps[i][top:bottom, left:right]
        window += part


def _multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out = a @ b, of (m, k) and (..., k, n), in as many parts of n as keep each product in one thread."""
    m, k = a.shape
    n, parts = b.shape[-1], 1
    while m * k * (n // parts) > _ALONE and n // parts % 2 == 0:
        parts *= 2
    if parts > 1:
        b = b.reshape(*b.shape[:-1], parts, n // parts).swapaxes(-2, -3)  # (..., parts, k, n / parts)
        out = out.reshape(*out.shape[:-1], parts, n // parts).swapaxes(-2, -3)
    np.matmul(a, b, out=out)
