"""Regions as the means of their parts."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.regions import Cells
from cvzoo.functions.roi.checks import checked_outsize
from cvzoo.functions.roi.regions_of_maps import regions_of_maps


def roi_average_pooling_2d(
    x: Any,
    rois: Any,
    roi_indices: Any,
    outsize: int | Sequence[int],
    spatial_scale: float,
    *,
    inclusive: bool = False,
) -> Variable:
    """(R, C, OH, OW): the means of each region's OH x OW parts, of whole pixels; 0 where a part sees none.

    Arguments and errors as for `roi_max_pooling_2d`.

    Source: Girshick, "Fast R-CNN", 2015, section 2.1, with means for maxima, as in Chainer.
    """
    name = "roi_average_pooling_2d"
    size = checked_outsize(outsize, function=name)
    cells = Cells.ROUNDED_INCLUSIVE if inclusive else Cells.ROUNDED
    return regions_of_maps((x,), rois, roi_indices, (spatial_scale,), size, cells, function=name)
