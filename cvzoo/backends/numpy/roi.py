"""RoI pooling: means by small matrix products, maxima cell by cell.

Means over a region separate into rows and columns. Each row of its window of a channels-last map is a matrix (w, C)
that BLAS reads in place: columns come first, y = Wy . (Wx . row for each row). Its transpose, the gradient, is the same
two products the other way round.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.backends.float_types import in_float32, rounded, widened
from cvzoo.backends.in_threads import in_threads
from cvzoo.backends.interface import State
from cvzoo.backends.native.region_means import means_natively
from cvzoo.backends.numpy.memory import channels_last, empty, zeros
from cvzoo.backends.numpy.regions.axis_weights import (
    AxisWeights,
    axis_samples,
    bin_weights,
    rounded_bins,
    sample_weights,
)
from cvzoo.backends.numpy.regions.rounded_maxima import rounded_maxima
from cvzoo.backends.numpy.regions.rows_of_cells import (
    greatest_pixels,
    greatest_samples,
    map_rows,
    map_rows_back,
    mean_rows,
    picked,
    picked_grad,
    row_sums,
    row_sums_grad,
    sample_rows,
)
from cvzoo.backends.regions import Cells, Regions

__all__ = ["region_levels", "roi_grad", "roi_max", "roi_average", "roi_at_argmax"]

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


def region_levels(bbox: np.ndarray, first: int, last: int) -> np.ndarray:
    """See `AbstractBackend.region_levels`: int64."""
    bbox = np.asarray(bbox, np.float32)
    side = np.sqrt((bbox[:, 2] - bbox[:, 0]) * (bbox[:, 3] - bbox[:, 1]))
    with np.errstate(divide="ignore"):  # an empty box goes to the finest map
        # the epsilon is torchvision's: a side of exactly a level's lower bound is not rounded below it
        level = np.floor(np.float32(4) + np.log2(side / np.float32(224)) + np.float32(1e-6))
    return (np.clip(level, first, last) - first).astype(np.int64)


@in_float32
def roi_average(maps: Sequence[np.ndarray], rois: Regions) -> np.ndarray:
    """See `AbstractBackend.roi_average`."""
    if rois.group:
        return _as_maps(row_sums(map_rows(maps[0], rois), *mean_rows(rois, maps[0].shape)), rois)
    y = empty((len(rois.bbox), maps[0].shape[1], *rois.outsize), maps[0].dtype)
    for x, windows in zip(maps, _windows(rois, [x.shape for x in maps])):
        write_means(channels_last(x), y, windows)
    return y


def roi_max(maps: Sequence[np.ndarray], rois: Regions, *, with_argmax: bool) -> tuple[np.ndarray, State]:
    """See `AbstractBackend.roi_max`."""
    (x,) = maps
    if rois.cells in (Cells.ROUNDED, Cells.ROUNDED_INCLUSIVE):
        y, argmax = rounded_maxima(channels_last(x).transpose(0, 2, 3, 1), _scaled(rois), rois, with_argmax=with_argmax)
        return y.transpose(0, 3, 1, 2), argmax
    rows = map_rows(x, rois)
    if rois.cells == Cells.REAL:
        argmax = greatest_pixels(rows, rois, x.shape)
    else:
        rows = _sampled(rows, rois, x.shape)
        argmax = greatest_samples(rows, rois, x.shape)
    return _as_maps(picked(rows, argmax), rois), argmax if with_argmax else None


def roi_at_argmax(maps: Sequence[np.ndarray], rois: Regions, argmax: np.ndarray) -> np.ndarray:
    """See `AbstractBackend.roi_at_argmax`."""
    (x,) = maps
    rows = map_rows(x, rois)
    if rois.cells == Cells.SAMPLES:
        rows = _sampled(rows, rois, x.shape)
    return _as_maps(picked(rows, argmax.reshape(-1, rows.shape[1])), rois)


def roi_grad(
    gy: np.ndarray, rois: Regions, shapes: Sequence[tuple[int, ...]], argmax: np.ndarray | None = None
) -> tuple[np.ndarray, ...]:
    """See `AbstractBackend.roi_grad`."""
    dtype, gy = gy.dtype, widened(gy)
    if argmax is None and not rois.group:
        gy = channels_last(gy)
        gxs = tuple([zeros(shape, gy.dtype) for shape in shapes])
        for gx, windows in zip(gxs, _windows(rois, shapes)):
            add_spread(gy, gx, windows)
        return tuple([rounded(gx, dtype) for gx in gxs])
    (shape,) = shapes
    rows = gy.transpose(0, 2, 3, 1).reshape(-1, gy.shape[1])
    n_row = shape[0] * shape[2] * shape[3] * max(rois.group, 1) ** 2
    if argmax is None:
        rows = row_sums_grad(rows, n_row, *mean_rows(rois, shape))
    elif rois.cells == Cells.SAMPLES:
        places, weights = sample_rows(rois, shape)
        of_samples = picked_grad(rows, len(places), argmax.reshape(rows.shape))
        rows = row_sums_grad(widened(rounded(of_samples, dtype)), n_row, places, weights)
    else:
        rows = picked_grad(rows, n_row, argmax.reshape(rows.shape))
    return (map_rows_back(rounded(rows, dtype), rois, shape),)


def _sampled(rows: np.ndarray, rois: Regions, shape: Sequence[int]) -> np.ndarray:
    """(M * S, C): all samples of all cells."""
    return rounded(row_sums(widened(rows), *sample_rows(rois, shape)), rows.dtype)


def _as_maps(y: np.ndarray, rois: Regions) -> np.ndarray:
    """(R, C, OH, OW) of the cells (R * OH * OW, C)."""
    return y.reshape(len(rois.bbox), *rois.outsize, y.shape[1]).transpose(0, 3, 1, 2)


def _scaled(rois: Regions) -> np.ndarray:
    """(R, 4): the boxes in pixels of the only level."""
    return rois.bbox * np.float32(rois.scales[0])


def _windows(rois: Regions, shapes: Sequence[tuple[int, ...]]) -> list[Windows]:
    """For each level, the windows of its regions and the weights of each cell's rows and columns."""
    key = "windows", *[shape[2:] for shape in shapes]
    if key not in rois.cache:
        rois.cache[key] = [_level_windows(rois, number, *shape[2:]) for number, shape in enumerate(shapes)]
    return rois.cache[key]


def _level_windows(rois: Regions, number: int, h: int, w: int) -> Windows:
    place = np.arange(len(rois.bbox)) if rois.level is None else np.flatnonzero(rois.level == number)
    y_min, x_min, y_max, x_max = (rois.bbox[place] * np.float32(rois.scales[number])).T
    rows = _axis(rois, 0, y_min, y_max, h)
    return Windows(place, rois.image[place], rows, _axis(rois, 1, x_min, x_max, w))


def _axis(rois: Regions, axis: int, start: np.ndarray, stop: np.ndarray, size: int) -> AxisWeights:
    n_out = rois.outsize[axis]
    if rois.cells == Cells.SAMPLES:
        return sample_weights(axis_samples(start, stop, n_out, rois.sampling[axis], size, rois.aligned))
    inclusive = rois.cells == Cells.ROUNDED_INCLUSIVE
    return bin_weights(rounded_bins(start, stop, n_out, size, inclusive=inclusive), size)


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
    starts = windows.rows.start, windows.columns.start
    are_short = max(wy.shape[2] / oh, wx.shape[2] / ow) <= _MANY
    if are_short and means_natively(x, y, windows.place, windows.indices, (starts[0], wy), (starts[1], wx)):
        return
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
