"""Position-sensitive RoI pooling and RoI Align."""

from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.regions import Cells
from cvzoo.functions.roi.regions_of_maps import (
    PlacedOutsize,
    Sampling,
    checked_placed_outsize,
    checked_sampling,
    regions_of_maps,
)
from cvzoo.typing.aliases import Array


def ps_roi_average_align_2d(
    x: Variable | Array,
    rois: Variable | Array,
    roi_indices: Variable | Array,
    outsize: PlacedOutsize,
    spatial_scale: float,
    group_size: int,
    sampling_ratio: Sampling = None,
    *,
    aligned: bool = False,
) -> Variable:
    """Position-sensitive RoI Align: (R, C, OH, OW), the mean of a few bilinear samples in each cell's own channels.

    x: (B, C * group_size ** 2, H, W), channel (c * group_size + gy) * group_size + gx
    rois: (R, 4) float32, y_min x_min y_max x_max, pixels of the image; no gradient is taken of them
    roi_indices: (R,) int32, index of the map of each region
    outsize: (C, OH, OW); or (OH, OW), or a number for both
    spatial_scale: map pixels per image pixel
    group_size: cell (oy, ox) uses gy = oy * group_size // OH, gx = ox * group_size // OW
    sampling_ratio, aligned: as for `roi_average_align_2d`; torchvision's ps_roi_align is aligned
    Raises ShapeError, DtypeError or ValueRangeError if the arrays do not fit together.

    Source: Dai et al., "R-FCN", 2016; Li et al., "Light-Head R-CNN", 2017. Where we differ: regions are not rounded.
    """
    name = "ps_roi_average_align_2d"
    size = checked_placed_outsize(as_array(x), outsize, group_size, function=name)
    return regions_of_maps(
        *((x,), rois, roi_indices, (spatial_scale,), size, Cells.SAMPLES),
        function=name,
        sampling=checked_sampling(sampling_ratio, function=name),
        aligned=aligned,
        group=group_size,
    )


def ps_roi_max_align_2d(
    x: Variable | Array,
    rois: Variable | Array,
    roi_indices: Variable | Array,
    outsize: PlacedOutsize,
    spatial_scale: float,
    group_size: int,
    sampling_ratio: Sampling = None,
    *,
    aligned: bool = False,
) -> Variable:
    """Position-sensitive RoI max align: (R, C, OH, OW), the maximum of a few samples in each cell's own channels.

    Arguments and errors as for `ps_roi_average_align_2d`. Samples a pixel or more outside of the map are ignored; a
    cell without samples is 0. The gradient goes to the first maximum.
    """
    name = "ps_roi_max_align_2d"
    size = checked_placed_outsize(as_array(x), outsize, group_size, function=name)
    return regions_of_maps(
        *((x,), rois, roi_indices, (spatial_scale,), size, Cells.SAMPLES),
        function=name,
        sampling=checked_sampling(sampling_ratio, function=name),
        aligned=aligned,
        group=group_size,
        greatest=True,
    )


def ps_roi_average_pooling_2d(
    x: Variable | Array,
    rois: Variable | Array,
    roi_indices: Variable | Array,
    outsize: PlacedOutsize,
    spatial_scale: float,
    group_size: int,
) -> Variable:
    """Position-sensitive RoI pooling: (R, C, OH, OW), the mean of the pixels in each cell's own channels; 0 if empty.

    x: (B, C * group_size ** 2, H, W), channel (c * group_size + gy) * group_size + gx
    rois: (R, 4) float32, y_min x_min y_max x_max, pixels of the image; no gradient is taken of them
    roi_indices: (R,) int32, index of the map of each region
    outsize: (C, OH, OW); or (OH, OW), or a number for both
    spatial_scale: map pixels per image pixel
    group_size: cell (oy, ox) uses gy = oy * group_size // OH, gx = ox * group_size // OW
    Every pixel that a cell overlaps has full weight.
    Raises ShapeError, DtypeError or ValueRangeError if the arrays do not fit together.

    Source: Dai et al., "R-FCN", 2016. Where we differ, as ChainerCV does: regions are not rounded to pixels first.
    """
    name = "ps_roi_average_pooling_2d"
    size = checked_placed_outsize(as_array(x), outsize, group_size, function=name)
    return regions_of_maps((x,), rois, roi_indices, (spatial_scale,), size, Cells.REAL, function=name, group=group_size)


def ps_roi_max_pooling_2d(
    x: Variable | Array,
    rois: Variable | Array,
    roi_indices: Variable | Array,
    outsize: PlacedOutsize,
    spatial_scale: float,
    group_size: int,
) -> Variable:
    """Position-sensitive RoI max pooling: (R, C, OH, OW), the maximum of the pixels in each cell's own channels.

    Arguments and errors as for `ps_roi_average_pooling_2d`. Empty cells are 0. The gradient goes to the first maximum.
    """
    name = "ps_roi_max_pooling_2d"
    size = checked_placed_outsize(as_array(x), outsize, group_size, function=name)
    return regions_of_maps(
        (x,), rois, roi_indices, (spatial_scale,), size, Cells.REAL, function=name, group=group_size, greatest=True
    )
