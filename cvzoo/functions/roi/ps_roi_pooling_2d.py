"""Position-sensitive regions of whole pixels: means and maxima."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.cuda.roi import Cells
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.array.transpose import transpose
from cvzoo.functions.roi.axis_bins import real_bins
from cvzoo.functions.roi.cell_samples import cell_pixels
from cvzoo.functions.roi.on_device import device_regions, is_on_device
from cvzoo.functions.roi.pick_channels import PickChannels
from cvzoo.functions.roi.position_sensitive import PlacedRegions, placed_regions, placed_sizes
from cvzoo.functions.roi.row_sums import RowSums


def ps_roi_average_pooling_2d(
    x: Any, rois: Any, roi_indices: Any, outsize: Sequence[int], spatial_scale: float, group_size: int
) -> Variable:
    """(R, C, OH, OW): each region, each cell the mean of the pixels of channels of its own; 0 where it sees none.

    x: (B, C * group_size ** 2, H, W), channel (c * group_size + gy) * group_size + gx
    rois: (R, 4) float32, y_min x_min y_max x_max, pixels of the photo; no gradient is taken of them
    roi_indices: (R,) int32, which of the B maps each region lies on
    outsize: (C, OH, OW)
    spatial_scale: pixels of the map for one of the photo
    group_size: cell (oy, ox) looks at gy = oy * group_size // OH, gx = ox * group_size // OW
    Every pixel that a cell touches counts wholly.
    Raises ShapeError, DtypeError or ValueRangeError if the arrays do not fit together.

    Source: Dai et al., "R-FCN", 2016. Where we differ, as ChainerCV does: regions are not rounded to pixels first.
    """
    if is_on_device(x):
        sizes = placed_sizes(x, outsize, group_size, function="ps_roi_average_pooling_2d")
        return device_regions(
            *((x,), rois, roi_indices, (spatial_scale,), sizes, Cells.REAL),
            function="ps_roi_average_pooling_2d",
            group=group_size,
        )
    placed = placed_regions(
        x, rois, roi_indices, outsize, spatial_scale, group_size, function="ps_roi_average_pooling_2d"
    )
    places, inside = _pixels(placed)
    weights = inside / np.maximum(inside.sum(axis=1, keepdims=True), 1).astype(np.float32)
    return placed.as_maps(RowSums(places, weights.astype(np.float32)).apply((placed.rows,))[0])


def ps_roi_max_pooling_2d(
    x: Any, rois: Any, roi_indices: Any, outsize: Sequence[int], spatial_scale: float, group_size: int
) -> Variable:
    """(R, C, OH, OW): each region, each cell the greatest pixel of channels of its own; 0 where it sees none.

    Arguments and errors as for `ps_roi_average_pooling_2d`. The gradient goes to the first of the greatest.
    """
    if is_on_device(x):
        sizes = placed_sizes(x, outsize, group_size, function="ps_roi_max_pooling_2d")
        return device_regions(
            *((x,), rois, roi_indices, (spatial_scale,), sizes, Cells.REAL),
            function="ps_roi_max_pooling_2d",
            group=group_size,
            greatest=True,
        )
    placed = placed_regions(x, rois, roi_indices, outsize, spatial_scale, group_size, function="ps_roi_max_pooling_2d")
    places, inside = _pixels(placed)
    rows = placed.rows
    best = np.full((len(places), rows.shape[1]), -np.inf, rows.dtype)
    where = np.full(best.shape, -1, np.intp)
    for place, here in zip(places.T, inside.T):
        used = np.flatnonzero(here)
        values = rows.array[place[used]]
        better = (values > best[used]) | (where[used] < 0)
        best[used] = np.where(better, values, best[used])
        where[used] = np.where(better, place[used, None], where[used])
    as_map = transpose(reshape(rows, (1, -1, 1, rows.shape[1])), (0, 3, 1, 2))
    picked = PickChannels(where[:, None, None]).apply((as_map,))[0]
    return placed.as_maps(reshape(picked, best.shape))


def _pixels(placed: PlacedRegions) -> tuple[np.ndarray, np.ndarray]:
    """Rows (M, K) that each cell looks at, and (M, K) bool, which of them it has."""
    (_, oh, ow), (h, w) = placed.outsize, placed.map_size
    y_min, x_min, y_max, x_max = placed.bbox.T
    places, inside = cell_pixels(real_bins(y_min, y_max, oh, h), real_bins(x_min, x_max, ow, w), w)
    return places + placed.first_row[:, None], inside
