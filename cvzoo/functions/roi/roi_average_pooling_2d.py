"""Regions as the means of their parts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.cuda.roi import Cells
from cvzoo.functions.roi.axis_bins import rounded_bins
from cvzoo.functions.roi.axis_weights import bin_weights
from cvzoo.functions.roi.on_device import device_regions, is_on_device
from cvzoo.functions.roi.regions import checked_outsize, checked_regions
from cvzoo.functions.roi.window_means import WindowMeans, Windows


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
    oh, ow = checked_outsize(outsize, function=name)
    if is_on_device(x):
        cells = Cells.ROUNDED_INCLUSIVE if inclusive else Cells.ROUNDED
        return device_regions(*((x,), rois, roi_indices, (spatial_scale,), (oh, ow), cells), function=name)
    regions = checked_regions(x, rois, roi_indices, spatial_scale, function=name)
    h, w = regions.x.shape[2:]
    y_min, x_min, y_max, x_max = regions.bbox.T
    rows = bin_weights(rounded_bins(y_min, y_max, oh, h, inclusive=inclusive), h)
    columns = bin_weights(rounded_bins(x_min, x_max, ow, w, inclusive=inclusive), w)
    windows = Windows(np.arange(len(rois)), regions.indices, rows, columns)
    return WindowMeans((windows,)).apply((regions.x,))[0]
