"""Weighted means over regions that separate into rows and columns: two small matrix products a region.

Each row of a region's window of a channels-last map is a matrix (w, C) that BLAS reads in place: columns come
first, y = Wy . (Wx . row for each row). Its transpose, the gradient, is the same two products the other way round.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cvzoo.backends.in_threads import in_threads
from cvzoo.backends.numpy.regions.axis_weights import AxisWeights

# Multiplications that BLAS does in one thread. Larger products would be shared among threads, and waking these for
# each region costs fifty times what they save
_MANY = 64  # pixels along an axis of a cell
_ALONE = 1 << 18
# Regions that a thread takes at a time
_SHARE = 64


class Windows(NamedTuple):
    """Regions of some maps (B, C, H, W).

    place: (R',) int64, which of all results each region's is
    indices: (R',) int64, which of the B maps it is on
    """

    place: np.ndarray
    indices: np.ndarray
    rows: AxisWeights
    columns: AxisWeights


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


def write_means(x: np.ndarray, y: np.ndarray, windows: Windows) -> None:
    """Write the means of these windows of x (B, C, H, W) to their places in y (R, C, OH, OW); both channels-last."""
    _, c, oh, ow = y.shape
    maps = list(x.transpose(0, 2, 3, 1))  # (H, W, C) each
    results = y.transpose(0, 2, 3, 1).reshape(-1, oh, ow * c)
    wy, wx = (axis.weights.astype(y.dtype, copy=False) for axis in windows[2:])
    highest = int(windows.rows.length.max(initial=0))
    regions = list(enumerate(_each(windows)))

    def work(start: int) -> None:
        buffer = np.empty((highest, ow, c), y.dtype)
        for r, (place, i, top, bottom, height, left, right, width) in regions[start : start + _SHARE]:
            of_columns = buffer[:height]
            _multiply(wx[r, :, :width], maps[i][top:bottom, left:right], of_columns)
            _multiply(wy[r, :, :height], of_columns.reshape(height, ow * c), results[place])

    in_threads(range(0, len(regions), _SHARE), work)


def add_spread(gy: np.ndarray, gx: np.ndarray, windows: Windows) -> None:
    """Add the gradient of `write_means` to gx (B, C, H, W), the transpose, in the order of the regions, so that sums
    are the same bits in every run."""
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
    if k > _MANY * m:  # cells of so many pixels: shorter sums lose fewer digits
        half = k // 2
        _multiply(a[:, :half], b[..., :half, :], out)
        rest = np.empty(out.shape, out.dtype)
        _multiply(a[:, half:], b[..., half:, :], rest)
        out += rest
        return
    n, parts = b.shape[-1], 1
    while m * k * (n // parts) > _ALONE and n // parts % 2 == 0:
        parts *= 2
    if parts > 1:
        b = b.reshape(*b.shape[:-1], parts, n // parts).swapaxes(-2, -3)  # (..., parts, k, n / parts)
        out = out.reshape(*out.shape[:-1], parts, n // parts).swapaxes(-2, -3)
    np.matmul(a, b, out=out)
