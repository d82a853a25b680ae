"""Bounding boxes and points of an image that is translated by padding or cropping."""

from collections.abc import Sequence
from typing import overload

import numpy as np

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.transforms.as_point import as_point, is_list_of_points
from cvzoo.typing.aliases import Array, ArrayLike, BBox, Point


def translate_bbox(bbox: ArrayLike, y_offset: float = 0, x_offset: float = 0) -> BBox:
    """The boxes translated down by y_offset and right by x_offset pixels; a new array.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    Raises ShapeError if bbox is not (R, 4).
    """
    bbox = as_bbox(bbox)
    return bbox + np.array([y_offset, x_offset] * 2, dtype=bbox.dtype)


@overload
def translate_point(  # pyright: ignore[reportOverlappingOverload]  # a list of arrays is also ArrayLike
    point: Sequence[Array], y_offset: float = ..., x_offset: float = ...
) -> list[Point]: ...
@overload
def translate_point(point: ArrayLike, y_offset: float = ..., x_offset: float = ...) -> Point: ...
def translate_point(
    point: ArrayLike | Sequence[Array], y_offset: float = 0, x_offset: float = 0
) -> Point | list[Point]:
    """The points translated down by y_offset and right by x_offset pixels; a new array.

    point: (R, K, 2) or (K, 2) float32, y x, pixels, or a list of arrays (K, 2)
    Raises ShapeError if point is not (..., 2).
    """
    if is_list_of_points(point):
        return [translate_point(each, y_offset, x_offset) for each in point]
    point = as_point(point)
    return point + np.array([y_offset, x_offset], dtype=point.dtype)
