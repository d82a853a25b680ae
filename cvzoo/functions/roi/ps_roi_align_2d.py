"""Position-sensitive regions by bilinear interpolation: means and maxima of samples."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.cuda.roi import Cells
from cvzoo.functions.roi.axis_samples import axis_samples
from cvzoo.functions.roi.cell_samples import CellSamples, cell_samples
from cvzoo.functions.roi.on_device import device_regions, is_on_device
from cvzoo.functions.roi.position_sensitive import PlacedRegions, placed_regions, placed_sizes
from cvzoo.functions.roi.regions import Sampling, checked_sampling
from cvzoo.functions.roi.roi_max_align_2d import greatest_samples
from cvzoo.functions.roi.row_sums import RowSums


def ps_roi_average_align_2d(
    x: Any,
    rois: Any,
    roi_indices: Any,
    outsize: Sequence[int],
    spatial_scale: float,
    group_size: int,
    sampling_ratio: Sampling = None,
    *,
    aligned: bool = False,
) -> Variable:
    """(R, C, OH, OW): each region, each cell the mean of a few bilinear samples of channels of its own.

    x: (B, C * group_size ** 2, H, W), channel (c * group_size + gy) * group_size + gx
    rois: (R, 4) float32, y_min x_min y_max x_max, pixels of the photo; no gradient is taken of them
    roi_indices: (R,) int32, which of the B maps each region lies on
    outsize: (C, OH, OW)
    spatial_scale: pixels of the map for one of the photo
    group_size: cell (oy, ox) looks at gy = oy * group_size // OH, gx = ox * group_size // OW
    sampling_ratio, aligned: as for `roi_average_align_2d`; torchvision's ps_roi_align is aligned
    Raises ShapeError, DtypeError or ValueRangeError if the arrays do not fit together.

    Source: Dai et al., "R-FCN", 2016; Li et al., "Light-Head R-CNN", 2017. Where we differ: regions are not rounded.
    """
    name = "ps_roi_average_align_2d"
    if is_on_device(x):
        sizes = placed_sizes(x, outsize, group_size, function=name)
        return device_regions(
            *((x,), rois, roi_indices, (spatial_scale,), sizes, Cells.SAMPLES),
            function=name,
            sampling=checked_sampling(sampling_ratio, function=name),
            aligned=aligned,
            group=group_size,
        )
    placed = placed_regions(x, rois, roi_indices, outsize, spatial_scale, group_size, function=name)
    samples = _samples(placed, sampling_ratio, aligned, name)
    m, s = samples.seen.shape
    places = (samples.places + placed.first_row[:, None, None]).reshape(m, 4 * s)
    weights = (samples.weights * samples.share[:, None, None]).reshape(m, 4 * s)
    return placed.as_maps(RowSums(places, weights).apply((placed.rows,))[0])


def ps_roi_max_align_2d(
    x: Any,
    rois: Any,
    roi_indices: Any,
    outsize: Sequence[int],
    spatial_scale: float,
    group_size: int,
    sampling_ratio: Sampling = None,
    *,
    aligned: bool = False,
) -> Variable:
    """(R, C, OH, OW): each region, each cell the greatest of a few bilinear samples of channels of its own.

    Arguments and errors as for `ps_roi_average_align_2d`. A sample a pixel or more beside the map does not count; a
    cell without any is 0. The gradient goes to the first of the greatest.
    """
    name = "ps_roi_max_align_2d"
    if is_on_device(x):
        sizes = placed_sizes(x, outsize, group_size, function=name)
        return device_regions(
            *((x,), rois, roi_indices, (spatial_scale,), sizes, Cells.SAMPLES),
            function=name,
            sampling=checked_sampling(sampling_ratio, function=name),
            aligned=aligned,
            group=group_size,
            greatest=True,
        )
    placed = placed_regions(x, rois, roi_indices, outsize, spatial_scale, group_size, function=name)
    return placed.as_maps(
        greatest_samples(placed.rows, _samples(placed, sampling_ratio, aligned, name), placed.first_row)
    )


def _samples(placed: PlacedRegions, sampling_ratio: Sampling, aligned: bool, function: str) -> CellSamples:
    sy, sx = checked_sampling(sampling_ratio, function=function)
    (_, oh, ow), (h, w) = placed.outsize, placed.map_size
    y_min, x_min, y_max, x_max = placed.bbox.T
    rows = axis_samples(y_min, y_max, oh, sy, h, aligned)
    return cell_samples(rows, axis_samples(x_min, x_max, ow, sx, w, aligned), w)
