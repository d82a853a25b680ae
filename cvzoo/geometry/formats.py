"""Conversions from and to other box formats. Inside cvzoo a box is always (y_min, x_min, y_max, x_max) in pixels.

Each function takes (R, 4) of any real dtype, returns a new (R, 4) array, float32 unless float64 came in, and raises
ShapeError if the input is not (R, 4). Inverted and empty boxes are converted like all others.
"""

from collections.abc import Sequence

import numpy as np

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.as_size import as_size
from cvzoo.typing.aliases import Array, ArrayLike, BBox

_SWAP = [1, 0, 3, 2]


def from_xyxy(bbox: ArrayLike) -> BBox:
    """Boxes from x_min, y_min, x_max, y_max (torchvision, Pascal VOC's order)."""
    return as_bbox(bbox)[:, _SWAP]


def to_xyxy(bbox: ArrayLike) -> Array:
    """x_min, y_min, x_max, y_max from boxes."""
    return as_bbox(bbox)[:, _SWAP]


def from_xywh(bbox: ArrayLike) -> BBox:
    """Boxes from x_min, y_min, width, height (COCO's JSON format)."""
    x_min, y_min, width, height = as_bbox(bbox).T
    return np.stack([y_min, x_min, y_min + height, x_min + width], axis=1)


def to_xywh(bbox: ArrayLike) -> Array:
    """x_min, y_min, width, height from boxes."""
    y_min, x_min, y_max, x_max = as_bbox(bbox).T
    return np.stack([x_min, y_min, x_max - x_min, y_max - y_min], axis=1)


def from_cxcywh(bbox: ArrayLike) -> BBox:
    """Boxes from center x, center y, width, height (YOLO, DETR)."""
    center_x, center_y, width, height = as_bbox(bbox).T
    half_h, half_w = height / 2, width / 2
    return np.stack([center_y - half_h, center_x - half_w, center_y + half_h, center_x + half_w], axis=1)


def to_cxcywh(bbox: ArrayLike) -> Array:
    """Center x, center y, width, height from boxes."""
    y_min, x_min, y_max, x_max = as_bbox(bbox).T
    height, width = y_max - y_min, x_max - x_min
    return np.stack([x_min + width / 2, y_min + height / 2, width, height], axis=1)


def from_normalized(bbox: ArrayLike, size: Sequence[int]) -> BBox:
    """Boxes in pixels from boxes in fractions of the image, both y_min, x_min, y_max, x_max; size is (H, W)."""
    bbox = as_bbox(bbox)
    height, width = as_size(size)
    return bbox * np.array([height, width, height, width], dtype=bbox.dtype)


def to_normalized(bbox: ArrayLike, size: Sequence[int]) -> Array:
    """Boxes in fractions of the image from boxes in pixels, both y_min, x_min, y_max, x_max; size is (H, W)."""
    bbox = as_bbox(bbox)
    height, width = as_size(size)
    return bbox / np.array([height, width, height, width], dtype=bbox.dtype)
