"""Anchors: the reference boxes of a detector, the same set at every position of a feature map."""

from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.as_size import as_size
from cvzoo.typing.aliases import Array


def cell_anchors(sizes: Sequence[float], ratios: Sequence[float], *, rounded: bool = False) -> Array:
    """The anchors of one position, centered on (0, 0): (K, 4) float32, y_min x_min y_max x_max, pixels.

    sizes: square roots of areas, pixels
    ratios: height over width; 1 / 8 is a wide anchor
    rounded: round corners to whole pixels (half to even), as torchvision's pretrained networks do
    Returns all sizes of the first ratio, then of the second and so on.
    Raises ValueRangeError if sizes or ratios are empty or hold a value that is not positive.
    """
    for name, values in (("sizes", sizes), ("ratios", ratios)):
        if not len(values) or not all(0 < value < float("inf") for value in values):
            raise ValueRangeError(f"cell_anchors: {name} must be positive numbers", got=repr(values)[:80])
    # float32 from here on, in this order: where a corner is halfway between two pixels, the last bit decides
    stretch = np.sqrt(np.asarray(ratios, np.float32))
    side = np.asarray(sizes, np.float32)
    height, width = np.outer(stretch, side).ravel(), np.outer(1 / stretch, side).ravel()
    anchor = np.stack([-height, -width, height, width], axis=1) / 2
    return np.round(anchor) if rounded else anchor


def grid_anchors(cell: Array, grid: Sequence[int], stride: Sequence[float]) -> Array:
    """The anchors of a cell at every position of a grid: (H * W * K, 4) float32, by row, then column, then anchor.

    cell: (K, 4) float32, y_min x_min y_max x_max, around (0, 0)
    grid: (H, W) of the feature map
    stride: (vertical, horizontal) pixels between neighboring positions; the first position is at (0, 0)
    Raises ShapeError if cell is not (K, 4) or grid is not a pair of positive integers.
    """
    cell = as_bbox(cell, "cell").astype(np.float32, copy=False)
    height, width = as_size(grid)
    y = np.arange(height, dtype=np.float32) * np.float32(stride[0])
    x = np.arange(width, dtype=np.float32) * np.float32(stride[1])
    shift = np.empty((height, width, 1, 4), np.float32)
    shift[..., 0, 0::2] = y[:, None, None]
    shift[..., 0, 1::2] = x[None, :, None]
    return (shift + cell).reshape(-1, 4)
