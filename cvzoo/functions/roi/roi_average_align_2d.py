"""Regions by bilinear interpolation, averaged."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.cuda.roi import Cells
from cvzoo.functions.roi.axis_samples import axis_samples
from cvzoo.functions.roi.axis_weights import sample_weights
from cvzoo.functions.roi.on_device import device_regions, is_on_device
from cvzoo.functions.roi.regions import Regions, Sampling, checked_outsize, checked_regions, checked_sampling
from cvzoo.functions.roi.window_means import WindowMeans, Windows

_NAME = "roi_average_align_2d"


def roi_average_align_2d(
    x: Any,
    rois: Any,
    roi_indices: Any,
    outsize: int | Sequence[int],
    spatial_scale: float,
    sampling_ratio: Sampling = None,
    *,
    aligned: bool = False,
) -> Variable:
    """(R, C, OH, OW): the inside of each region, each cell the mean of a few bilinear samples.

    x: (B, C, H, W)
    rois: (R, 4) float32, y_min x_min y_max x_max, pixels of the photo; no gradient is taken of them
    roi_indices: (R,) int32, which of the B maps each region lies on
    outsize: OH and OW, a number or (rows, columns)
    spatial_scale: pixels of the map for one of the photo, such as 1 / 16
    sampling_ratio: samples in a cell along each axis, a number or (rows, columns); None or 0: one a pixel, rounded up
    aligned: pixel centres lie at half. False, as first published code had it: they lie on whole numbers, half a pixel
        off, and a region is at least one pixel of the map wide
    A sample less than a pixel beside the map takes the nearest pixel, one farther away is 0. The gradient is the same
    bits in every run.
    Raises ShapeError, DtypeError or ValueRangeError if the arrays do not fit together.

    Source: He et al., "Mask R-CNN", 2017, section 3. Both corner rules agree with torchvision's.
    """
    if is_on_device(x):
        size, sampling = checked_outsize(outsize, function=_NAME), checked_sampling(sampling_ratio, function=_NAME)
        return device_regions(
            *((x,), rois, roi_indices, (spatial_scale,), size, Cells.SAMPLES),
            function=_NAME,
            sampling=sampling,
            aligned=aligned,
        )
    regions = checked_regions(x, rois, roi_indices, spatial_scale, function=_NAME)
    windows = _windows(regions, np.arange(len(regions.bbox)), outsize, sampling_ratio, aligned)
    return WindowMeans((windows,)).apply((regions.x,))[0]


def roi_average_align_levels(
    maps: Sequence[Any],
    rois: np.ndarray,
    roi_indices: np.ndarray,
    levels: np.ndarray,
    outsize: int | Sequence[int],
    spatial_scales: Sequence[float],
    sampling_ratio: Sampling = None,
    *,
    aligned: bool = False,
) -> Variable:
    """(R, C, OH, OW): the inside of each region, each from its own level of a pyramid, in the order of the regions.

    maps: (B, C, H, W) each; spatial_scales: of each
    levels: (R,) int, which of them each region looks at
    All else as in `roi_average_align_2d`.
    """
    if is_on_device(maps[0]):
        size, sampling = checked_outsize(outsize, function=_NAME), checked_sampling(sampling_ratio, function=_NAME)
        return device_regions(
            *(maps[: len(spatial_scales)], rois, roi_indices, spatial_scales, size, Cells.SAMPLES),
            function=_NAME,
            level=levels,
            sampling=sampling,
            aligned=aligned,
        )
    inputs, windows = [], []
    for level, (x, scale) in enumerate(zip(maps, spatial_scales)):
        place = np.flatnonzero(levels == level)
        if len(place) or not (len(levels) or level):
            regions = checked_regions(x, rois[place], roi_indices[place], scale, function=_NAME)
            windows.append(_windows(regions, place, outsize, sampling_ratio, aligned))
            inputs.append(regions.x)
    return WindowMeans(windows).apply(tuple(inputs))[0]


def _windows(
    regions: Regions, place: np.ndarray, outsize: int | Sequence[int], sampling_ratio: Sampling, aligned: bool
) -> Windows:
    oh, ow = checked_outsize(outsize, function=_NAME)
    sy, sx = checked_sampling(sampling_ratio, function=_NAME)
    y_min, x_min, y_max, x_max = regions.bbox.T
    rows = axis_samples(y_min, y_max, oh, sy, regions.x.shape[2], aligned)
    columns = axis_samples(x_min, x_max, ow, sx, regions.x.shape[3], aligned)
    return Windows(place, regions.indices, sample_weights(rows), sample_weights(columns))
