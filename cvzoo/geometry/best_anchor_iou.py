"""The best IoU of boxes with a detector's anchors."""

from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.anchors import cell_anchors
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.typing.aliases import Array


def best_anchor_iou(
    bbox: Array, sizes: Sequence[Sequence[float]], ratios: Sequence[float], strides: Sequence[float]
) -> Array:
    """The highest IoU of each box with any anchor of a feature pyramid: (R,) float32 in [0, 1].

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels of the network's input
    sizes: for each level the square roots of the anchors' areas; ratios: heights over widths, the same for all levels
    strides: pixels between neighboring positions of each level, the first of which is at (0, 0)
    Raises ShapeError unless each level has sizes and a stride.

    Of anchors of one shape, the one nearest to the box's center fits best: one comparison per box, level and shape.
    The border of the image, outside of which there are no anchors, is ignored.
    """
    bbox = as_bbox(bbox)
    if len(sizes) != len(strides):
        raise ShapeError("best_anchor_iou: each level needs sizes and a stride", got=(len(sizes), len(strides)))
    side = np.maximum(bbox[:, 2:] - bbox[:, :2], 0)
    best = np.zeros(len(bbox), bbox.dtype)
    for level_sizes, stride in zip(sizes, strides):
        cell = cell_anchors(level_sizes, ratios)
        offset = np.abs((bbox[:, :2] + side / 2 + stride / 2) % stride - stride / 2)
        np.maximum(best, iou_at_offset(side, cell[:, 2:] - cell[:, :2], offset).max(axis=1), out=best)
    return best


def iou_at_offset(side_a: Array, side_b: Array, offset: Array | float = 0.0) -> Array:
    """IoU of all pairs of boxes given by their sides and the distance of their centers: (N, K).

    side_a: (N, 2) height and width; side_b: (K, 2) likewise
    offset: (N, 2) distance between the centers, vertical and horizontal, or one value for all
    """
    a, b = side_a[:, None], side_b[None]
    apart = np.broadcast_to(np.asarray(offset, side_a.dtype), side_a.shape)[:, None]
    shared = np.clip((a + b) / 2 - apart, 0, np.minimum(a, b)).prod(axis=2)
    union = a.prod(axis=2) + b.prod(axis=2) - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
