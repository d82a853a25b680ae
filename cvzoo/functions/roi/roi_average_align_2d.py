"""Regions by bilinear interpolation, averaged."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.roi.axis_samples import axis_samples
from cvzoo.functions.roi.axis_weights import sample_weights
from cvzoo.functions.roi.regions import Sampling, checked_outsize, checked_regions, checked_sampling
from cvzoo.functions.roi.window_means import WindowMeans


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
    name = "roi_average_align_2d"
    regions = checked_regions(x, rois, roi_indices, spatial_scale, function=name)
    oh, ow = checked_outsize(outsize, function=name)
    sy, sx = checked_sampling(sampling_ratio, function=name)
    y_min, x_min, y_max, x_max = regions.bbox.T
    rows = axis_samples(y_min, y_max, oh, sy, regions.x.shape[2], aligned)
    columns = axis_samples(x_min, x_max, ow, sx, regions.x.shape[3], aligned)
    return WindowMeans(regions.indices, sample_weights(rows), sample_weights(columns)).apply((regions.x,))[0]
