"""RoI pooling: means by small matrix products, maxima cell by cell."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.float_types import in_float32, rounded, widened
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
from cvzoo.backends.numpy.regions.window_means import Windows, add_spread, write_means
from cvzoo.backends.regions import Cells, Regions

__all__ = ["region_levels", "roi_grad", "roi_max", "roi_average", "roi_at_argmax"]


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


def roi_max(maps: Sequence[np.ndarray], rois: Regions, *, with_argmax: bool) -> tuple[np.ndarray, Any]:
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


def roi_at_argmax(maps: Sequence[np.ndarray], rois: Regions, argmax: Any) -> np.ndarray:
    """See `AbstractBackend.roi_at_argmax`."""
    (x,) = maps
    rows = map_rows(x, rois)
    if rois.cells == Cells.SAMPLES:
        rows = _sampled(rows, rois, x.shape)
    return _as_maps(picked(rows, argmax.reshape(-1, rows.shape[1])), rois)


def roi_grad(gy: np.ndarray, rois: Regions, shapes: Sequence[tuple[int, ...]], argmax: Any = None) -> tuple[Any, ...]:
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
