"""Intersection over union of boxes."""

from cvzoo.backends.numpy.suppression import box_intersection, box_iou
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.typing.aliases import Array, ArrayLike


def bbox_intersection(bbox_a: ArrayLike, bbox_b: ArrayLike) -> Array:
    """Area of the intersection of every pair of boxes.

    bbox_a: (N, 4) float32, y_min x_min y_max x_max, pixels
    bbox_b: (K, 4) float32, likewise
    Returns (N, K) float32, square pixels; 0 where boxes only touch, and for empty or inverted boxes.
    Raises ShapeError if either is not (*, 4).
    """
    bbox_a, bbox_b = as_bbox(bbox_a, "bbox_a"), as_bbox(bbox_b, "bbox_b")
    return box_intersection(bbox_a, bbox_b)


def bbox_iou(bbox_a: ArrayLike, bbox_b: ArrayLike) -> Array:
    """Intersection over union of every pair of boxes.

    bbox_a: (N, 4) float32, y_min x_min y_max x_max, pixels
    bbox_b: (K, 4) float32, likewise
    Returns (N, K) float32 in [0, 1]; 0 where both boxes are empty, and for inverted boxes.
    Raises ShapeError if either is not (*, 4).

    The arithmetic is `inter / ((area_a + area_b) - inter)` in the dtype of the boxes, in this order, as torchvision's
    compiled operators compute it: pairs right at a threshold fall on the same side of it everywhere in cvzoo.
    """
    bbox_a, bbox_b = as_bbox(bbox_a, "bbox_a"), as_bbox(bbox_b, "bbox_b")
    return box_iou(bbox_a, bbox_b)
