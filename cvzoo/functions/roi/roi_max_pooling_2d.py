"""Regions as the maxima of their parts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.cuda.roi import Cells
from cvzoo.backends.dispatch import backend_of
from cvzoo.config.switches import switches
from cvzoo.functions.roi.axis_bins import AxisBins, rounded_bins
from cvzoo.functions.roi.on_device import device_regions, is_on_device
from cvzoo.functions.roi.pick_channels import PickChannelsGrad
from cvzoo.functions.roi.regions import checked_outsize, checked_regions


class RoIMaxPooling2D(FunctionNode):
    """x (B, C, H, W) to (R, C, OH, OW).

    keep: a gradient will be asked for: remember where the maxima are
    """

    def __init__(self, indices: np.ndarray, rows: AxisBins, columns: AxisBins, keep: bool):
        self.bins = (indices, rows, columns)
        self.keep = keep

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        self.map_shape = x.shape
        x = backend_of(x).channels_last(x).transpose(0, 2, 3, 1)
        y, self.places = (_maxima_and_places if self.keep else _maxima)(x, *self.bins)
        return (y.transpose(0, 3, 1, 2),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return PickChannelsGrad(self.map_shape, self.places).apply(gys)


def _maxima(x: np.ndarray, indices: np.ndarray, rows: AxisBins, columns: AxisBins) -> tuple[np.ndarray, None]:
    """Of rows first, then of columns: each pixel is looked at about once."""
    oh, ow = rows.start.shape[1], columns.start.shape[1]
    c = x.shape[3]
    y = np.zeros((len(indices), oh, ow, c), x.dtype)
    for r, i in enumerate(indices.tolist()):
        across = list(zip(columns.start[r].tolist(), columns.stop[r].tolist()))
        left, right = min(across)[0], max(stop for _, stop in across)
        if left >= right:
            continue
        of_rows = np.empty((oh, right - left, c), x.dtype)
        seen = []
        for o, (top, bottom) in enumerate(zip(rows.start[r].tolist(), rows.stop[r].tolist())):
            if top < bottom:
                seen.append(o)
                np.maximum.reduce(x[i, top:bottom, left:right], axis=0, out=of_rows[o])
        if len(seen) < oh:
            of_rows = of_rows[seen]
        for o, (start, stop) in enumerate(across):
            if start < stop and seen:
                y[r, seen, o] = np.maximum.reduce(of_rows[:, start - left : stop - left], axis=1)
    return y, None


def _maxima_and_places(
    x: np.ndarray, indices: np.ndarray, rows: AxisBins, columns: AxisBins
) -> tuple[np.ndarray, np.ndarray]:
    """Also (R, OH, OW, C), where the first of the greatest lies among the B * H * W pixels; -1 in an empty bin."""
    oh, ow = rows.start.shape[1], columns.start.shape[1]
    _, h, w, c = x.shape
    y = np.zeros((len(indices), oh, ow, c), x.dtype)
    places = np.full(y.shape, -1, np.intp)
    for r, i in enumerate(indices.tolist()):
        for oy, (top, bottom) in enumerate(zip(rows.start[r].tolist(), rows.stop[r].tolist())):
            for ox, (left, right) in enumerate(zip(columns.start[r].tolist(), columns.stop[r].tolist())):
                if top >= bottom or left >= right:
                    continue
                window = x[i, top:bottom, left:right].reshape(-1, c)
                best = window.argmax(axis=0)
                y[r, oy, ox] = window[best, np.arange(c)]
                places[r, oy, ox] = (i * h + top + best // (right - left)) * w + left + best % (right - left)
    return y, places


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
    oh, ow = checked_outsize(outsize, function=name)
    if is_on_device(x):
        cells = Cells.ROUNDED_INCLUSIVE if inclusive else Cells.ROUNDED
        return device_regions(
            *((x,), rois, roi_indices, (spatial_scale,), (oh, ow), cells), function=name, greatest=True
        )
    regions = checked_regions(x, rois, roi_indices, spatial_scale, function=name)
    x = regions.x
    y_min, x_min, y_max, x_max = regions.bbox.T
    rows = rounded_bins(y_min, y_max, oh, x.shape[2], inclusive=inclusive)
    columns = rounded_bins(x_min, x_max, ow, x.shape[3], inclusive=inclusive)
    keep = x.requires_grad and switches.enable_backprop
    return RoIMaxPooling2D(regions.indices, rows, columns, keep).apply((x,))[0]
