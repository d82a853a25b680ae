"""Maps whose channels are told apart by place: each cell of a region looks at channels of its own.

A map has C * G * G channels, channel (c * G + gy) * G + gx; cell (oy, ox) of OH x OW looks at gy = oy * G // OH and
gx = ox * G // OW. Source: Dai et al., "R-FCN: Object Detection via Region-based Fully Convolutional Networks", 2016.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.array.transpose import transpose
from cvzoo.functions.roi.regions import checked_outsize, checked_regions


class PlacedRegions(NamedTuple):
    """Feature maps as rows of C numbers, and the regions on them."""

    rows: Variable  # (B * G * G * H * W, C)
    bbox: np.ndarray  # (R, 4) float32, pixels of the map
    first_row: np.ndarray  # (R * OH * OW,) where the rows of a cell's own channels begin
    outsize: tuple[int, int, int]  # C, OH, OW
    map_size: tuple[int, int]  # H, W

    def as_maps(self, y: Variable) -> Variable:
        """(R, C, OH, OW) of the cells (R * OH * OW, C)."""
        c, oh, ow = self.outsize
        return transpose(reshape(y, (len(self.bbox), oh, ow, c)), (0, 3, 1, 2))


def placed_regions(
    x: Any,
    rois: Any,
    roi_indices: Any,
    outsize: Sequence[int],
    spatial_scale: float,
    group_size: int,
    *,
    function: str,
) -> PlacedRegions:
    """The maps by rows, and what each cell looks at. Raises ShapeError, DtypeError or ValueRangeError as they fit."""
    regions = checked_regions(x, rois, roi_indices, spatial_scale, function=function)
    b, channels, h, w = regions.x.shape
    oh, ow = placed_sizes(regions.x, outsize, group_size, function=function)
    g = group_size
    c = channels // g**2
    maps = transpose(reshape(regions.x, (b, c, g, g, h, w)), (0, 2, 3, 4, 5, 1))
    group = (np.arange(oh) * g // oh)[:, None] * g + np.arange(ow) * g // ow
    first = (regions.indices[:, None, None] * g * g + group) * h * w
    return PlacedRegions(reshape(maps, (-1, c)), regions.bbox, first.reshape(-1), (c, oh, ow), (h, w))


def placed_sizes(x: Any, outsize: Sequence[int], group_size: int, *, function: str) -> tuple[int, int]:
    """OH and OW of outsize (C, OH, OW). Raises DtypeError or ShapeError if it does not fit the maps x."""
    try:
        c, oh, ow = outsize
    except (TypeError, ValueError):
        raise DtypeError(f"{function}: outsize must be (channels, rows, columns)", got=repr(outsize)) from None
    oh, ow = checked_outsize((oh, ow), function=function)
    g = group_size
    if g < 1 or c < 1 or x.shape[1] != c * g * g:
        raise ShapeError(
            f"{function}: x must have outsize[0] * group_size ** 2 channels", expected=c * g * g, got=x.shape[1]
        )
    return oh, ow
