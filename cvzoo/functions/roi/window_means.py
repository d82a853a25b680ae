"""Weighted means over regions that separate into rows and columns: two small matrix products a region.

Each row of a region's window of a channels-last map is a matrix (w, C) that BLAS reads where it lies: columns come
first, y = Wy . (Wx . row for each row). Its transpose, the gradient, is the same two products the other way round.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.in_threads import in_threads
from cvzoo.functions.roi.axis_weights import AxisWeights

# Multiplications that BLAS does in one thread. Larger products would be shared among threads, and waking these for
# each region costs fifty times what they save
_ALONE = 1 << 18
# Regions that a thread takes at a time
_SHARE = 64


class Windows(NamedTuple):
    """Regions of some maps (B, C, H, W).

    place: (R',) int64, which of all results each region's is
    indices: (R',) int64, which of the B maps it lies on
    """

    place: np.ndarray
    indices: np.ndarray
    rows: AxisWeights
    columns: AxisWeights


class WindowMeans(FunctionNode):
    """Maps (B, C, H, W) of several sizes, with the regions of each, to (R, C, OH, OW)."""

    in_float32 = True

    def __init__(self, windows: Sequence[Windows]):
        self.windows = tuple(windows)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.map_shapes = tuple([x.shape for x in inputs])
        backend = backend_of(inputs[0])
        n = sum([len(each.place) for each in self.windows])
        oh, ow = (axis.weights.shape[1] for axis in self.windows[0][2:])
        y = backend.empty((n, inputs[0].shape[1], oh, ow), inputs[0].dtype)
        for x, windows in zip(inputs, self.windows):
            _write_means(backend.channels_last(x), y, windows)
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return WindowMeansGrad(self.map_shapes, self.windows).apply(gys)


class WindowMeansGrad(FunctionNode):
    """gy (R, C, OH, OW) to gx (B, C, H, W) of each of the maps: the transpose."""

    in_float32 = True

    def __init__(self, map_shapes: Sequence[tuple[int, ...]], windows: Sequence[Windows]):
        self.map_shapes = tuple(map_shapes)
        self.windows = tuple(windows)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (gy,) = inputs
        backend = backend_of(gy)
        gy = backend.channels_last(gy)
        gxs = tuple([backend.zeros(shape, gy.dtype) for shape in self.map_shapes])
        for gx, windows in zip(gxs, self.windows):
            _add_spread(gy, gx, windows)
        return gxs

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return WindowMeans(self.windows).apply(gys)


def _each(windows: Windows) -> Iterator[tuple[int, ...]]:
    """Of each region its place, its map, and of its window top, bottom, height, left, right, width."""
    _, _, rows, columns = windows
    return zip(
        windows.place.tolist(),
        windows.indices.tolist(),
        rows.start.tolist(),
        (rows.start + rows.length).tolist(),
        rows.length.tolist(),
        columns.start.tolist(),
        (columns.start + columns.length).tolist(),
        columns.length.tolist(),
    )


def _write_means(x: np.ndarray, y: np.ndarray, windows: Windows) -> None:
    """Of y (R, C, OH, OW), channels-last, the places of these windows of x."""
    _, c, oh, ow = y.shape
    maps = list(x.transpose(0, 2, 3, 1))  # (H, W, C) each
    results = y.transpose(0, 2, 3, 1).reshape(-1, oh, ow * c)
    wy, wx = (axis.weights.astype(y.dtype, copy=False) for axis in windows[2:])
    highest = int(windows.rows.length.max(initial=0))
    regions = list(enumerate(_each(windows)))

    def work(start: int) -> None:
        kept = np.empty((highest, ow, c), y.dtype)
        for r, (place, i, top, bottom, height, left, right, width) in regions[start : start + _SHARE]:
            of_columns = kept[:height]
            _multiply(wx[r, :, :width], maps[i][top:bottom, left:right], of_columns)
            _multiply(wy[r, :, :height], of_columns.reshape(height, ow * c), results[place])

    in_threads(range(0, len(regions), _SHARE), work)


def _add_spread(gy: np.ndarray, gx: np.ndarray, windows: Windows) -> None:
    """In the order of the regions, so that sums are the same bits in every run."""
    _, c, oh, ow = gy.shape
    maps = list(gx.transpose(0, 2, 3, 1))
    gy = gy.transpose(0, 2, 3, 1).reshape(-1, oh, ow * c)
    wy, wx = (axis.weights.astype(gy.dtype, copy=False).transpose(0, 2, 1) for axis in windows[2:])
    for r, (place, i, top, bottom, height, left, right, width) in enumerate(_each(windows)):
        of_rows = np.empty((height, ow * c), gy.dtype)
        _multiply(wy[r, :height], gy[place], of_rows)
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
