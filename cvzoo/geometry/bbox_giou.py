"""Generalized intersection over union."""

import numpy as np

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.bbox_area import bbox_area
from cvzoo.geometry.bbox_iou import bbox_intersection
from cvzoo.typing.aliases import Array, ArrayLike


def bbox_giou(bbox_a: ArrayLike, bbox_b: ArrayLike) -> Array:
    """Generalized IoU of every pair of boxes: IoU minus the fraction of the enclosing box that neither box covers.

    bbox_a: (N, 4) float32, y_min x_min y_max x_max, pixels
    bbox_b: (K, 4) float32, likewise
    Returns (N, K) float32 in [-1, 1]; 0 where the enclosing box is empty.
    Raises ShapeError if either is not (*, 4).

    Source: Generalized Intersection over Union (Rezatofighi et al., CVPR 2019), algorithm 1.
    """
    bbox_a, bbox_b = as_bbox(bbox_a, "bbox_a"), as_bbox(bbox_b, "bbox_b")
    inter = bbox_intersection(bbox_a, bbox_b)
    union = bbox_area(bbox_a)[:, None] + bbox_area(bbox_b) - inter
    height, width = (
        np.maximum(bbox_a[:, None, axis + 2], bbox_b[:, axis + 2]) - np.minimum(bbox_a[:, None, axis], bbox_b[:, axis])
        for axis in (0, 1)
    )
    enclosing = np.maximum(height, 0) * np.maximum(width, 0)
    iou = np.divide(inter, union, out=np.zeros_like(inter), where=union > 0)
    waste = np.divide(enclosing - union, enclosing, out=np.zeros_like(inter), where=enclosing > 0)
    return iou - waste
