"""RoI average pooling and RoI Align."""

from collections.abc import Sequence

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import range_of
from cvzoo.backends.regions import Cells
from cvzoo.functions.roi.regions_of_maps import Sampling, checked_outsize, checked_sampling, regions_of_maps
from cvzoo.typing.aliases import Array

_NAME = "roi_average_align_2d"


def roi_average_align_2d(
    x: Variable | Array,
    rois: Variable | Array,
    roi_indices: Variable | Array,
    outsize: int | Sequence[int],
    spatial_scale: float,
    sampling_ratio: Sampling = None,
    *,
    aligned: bool = False,
) -> Variable:
    """RoI Align: (R, C, OH, OW), the mean of a few bilinear samples in each cell of a region.

    x: (B, C, H, W)
    rois: (R, 4) float32, y_min x_min y_max x_max, pixels of the image; no gradient is taken of them
    roi_indices: (R,) int32, index of the map of each region
    outsize: OH and OW, a number or (rows, columns)
    spatial_scale: map pixels per image pixel, such as 1 / 16
    sampling_ratio: samples per cell along each axis, a number or (rows, columns); None or 0: one per pixel, rounded up
    aligned: pixel centers are at half-integers. False, as in the first published code: at integers, half a pixel
        off, and a region is at least one pixel of the map wide
    A sample less than a pixel outside of the map takes the nearest pixel, one farther away is 0. The gradient is
    deterministic.
    Raises ShapeError, DtypeError or ValueRangeError if the arrays do not fit together.

    Source: He et al., "Mask R-CNN", 2017, section 3. Both corner rules agree with torchvision's.
    """
    return regions_of_maps(
        *((x,), rois, roi_indices, (spatial_scale,), checked_outsize(outsize, function=_NAME), Cells.SAMPLES),
        function=_NAME,
        sampling=checked_sampling(sampling_ratio, function=_NAME),
        aligned=aligned,
    )


def roi_average_align_levels(
    maps: Sequence[Variable | Array],
    rois: Variable | Array,
    roi_indices: Variable | Array,
    levels: Array,
    outsize: int | Sequence[int],
    spatial_scales: Sequence[float],
    sampling_ratio: Sampling = None,
    *,
    aligned: bool = False,
) -> Variable:
    """RoI Align on a feature pyramid: (R, C, OH, OW), each region from its own level, in the order of the regions.

    maps: (B, C, H, W) each; spatial_scales: of each
    levels: (R,) int, the index of each region's level
    All else as in `roi_average_align_2d`.
    """
    in_use, levels = _levels_in_use(levels, len(spatial_scales))
    return regions_of_maps(
        *([maps[k] for k in in_use], rois, roi_indices, [spatial_scales[k] for k in in_use]),
        *(checked_outsize(outsize, function=_NAME), Cells.SAMPLES),
        function=_NAME,
        level=levels,
        sampling=checked_sampling(sampling_ratio, function=_NAME),
        aligned=aligned,
    )


def _levels_in_use(levels: Array, n_level: int) -> tuple[list[int], Array]:
    """The levels in use, and each region's index among these; all levels if `levels` is on a GPU."""
    if not levels.size:
        return [0], levels
    if range_of(levels) is None:
        # on a GPU, where reading the levels would synchronize
        return list(range(n_level)), levels
    in_use, indexes = np.unique(levels, return_inverse=True)
    return in_use.tolist(), indexes


def roi_average_pooling_2d(
    x: Variable | Array,
    rois: Variable | Array,
    roi_indices: Variable | Array,
    outsize: int | Sequence[int],
    spatial_scale: float,
    *,
    inclusive: bool = False,
) -> Variable:
    """RoI average pooling: (R, C, OH, OW), the mean of the pixels in each cell of a region; 0 for empty cells.

    Arguments and errors as for `roi_max_pooling_2d`.

    Source: Girshick, "Fast R-CNN", 2015, section 2.1, with means for maxima, as in Chainer.
    """
    name = "roi_average_pooling_2d"
    size = checked_outsize(outsize, function=name)
    cells = Cells.ROUNDED_INCLUSIVE if inclusive else Cells.ROUNDED
    return regions_of_maps((x,), rois, roi_indices, (spatial_scale,), size, cells, function=name)
