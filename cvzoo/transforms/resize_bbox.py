"""Bounding boxes and points of a resized image."""

from collections.abc import Sequence
from typing import overload

import numpy as np

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_point import as_point, is_list_of_points
from cvzoo.typing.aliases import Array, ArrayLike, BBox, Point


def resize_bbox(bbox: ArrayLike, in_size: Sequence[int], out_size: Sequence[int]) -> BBox:
    """The boxes scaled as the image was, height and width each by its own factor.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    in_size, out_size: (H, W) of the image before and after
    Returns (R, 4) of the same dtype, a new array.
    Raises ShapeError if bbox is not (R, 4) or a size is not a pair.
    """
    bbox = as_bbox(bbox)
    return bbox * np.array(_factors(in_size, out_size) * 2, dtype=bbox.dtype)


@overload
def resize_point(  # pyright: ignore[reportOverlappingOverload]  # a list of arrays is also ArrayLike
    point: Sequence[Array], in_size: Sequence[int], out_size: Sequence[int]
) -> list[Point]: ...
@overload
def resize_point(point: ArrayLike, in_size: Sequence[int], out_size: Sequence[int]) -> Point: ...
def resize_point(
    point: ArrayLike | Sequence[Array], in_size: Sequence[int], out_size: Sequence[int]
) -> Point | list[Point]:
    """The points scaled as the image was, height and width each by its own factor.

    point: (R, K, 2) or (K, 2) float32, y x, pixels, or a list of arrays (K, 2)
    in_size, out_size: (H, W) of the image before and after
    Returns the same shapes and dtypes, a new array or a list of such.
    Raises ShapeError if point is not (..., 2) or a size is not a pair.
    """
    if is_list_of_points(point):
        return [resize_point(each, in_size, out_size) for each in point]
    point = as_point(point)
    return point * np.array(_factors(in_size, out_size), dtype=point.dtype)


def _factors(in_size: Sequence[int], out_size: Sequence[int]) -> list[float]:
    (in_h, in_w), (out_h, out_w) = as_size(in_size, "in_size"), as_size(out_size, "out_size")
    return [out_h / in_h, out_w / in_w]
