"""Regions as the maxima of their parts."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.regions import Cells
from cvzoo.functions.roi.checks import checked_outsize
from cvzoo.functions.roi.regions_of_maps import regions_of_maps


def roi_max_pooling_2d(
    x: Any,
    rois: Any,
    roi_indices: Any,
    outsize: int | Sequence[int],
    spatial_scale: float,
    *,
    inclusive: bool = False,
) -> Variable:
    """(R, C, OH, OW): the maxima of each region's OH x OW parts, of whole pixels; 0 where a part sees none.

    x: (B, C, H, W)
    rois: (R, 4) float32, y_min x_min y_max x_max, pixels of the photo; no gradient is taken of them
    roi_indices: (R,) int32, which of the B maps each region lies on
    outsize: OH and OW, a number or (rows, columns)
    spatial_scale: pixels of the map for one of the photo, such as 1 / 16
    inclusive: the pixel at y_max and x_max belongs to the region, as in Caffe, torchvision and Chainer's older
        `roi_pooling_2d`; False as in Chainer's `roi_max_pooling_2d`
    Edges are rounded to whole pixels, halves away from zero; a region has at least one pixel; parts may overlap by one.
    The gradient goes to the first of the greatest.
    Raises ShapeError, DtypeError or ValueRangeError if the arrays do not fit together.

    Source: Girshick, "Fast R-CNN", 2015, section 2.1.
    """
    name = "roi_max_pooling_2d"
    size = checked_outsize(outsize, function=name)
    cells = Cells.ROUNDED_INCLUSIVE if inclusive else Cells.ROUNDED
    return regions_of_maps((x,), rois, roi_indices, (spatial_scale,), size, cells, function=name, greatest=True)
