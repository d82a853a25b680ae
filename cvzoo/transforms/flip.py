"""Flip an image, its boxes and its points."""

from collections.abc import Sequence
from typing import overload

import numpy as np

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_point import as_point, is_list_of_points
from cvzoo.typing.aliases import Array, ArrayLike, BBox, Image, Point


def flip(img: Image, y_flip: bool = False, x_flip: bool = False) -> Image:
    """The image flipped vertically (y_flip), horizontally (x_flip) or both; a new contiguous array.

    img: (C, H, W), any dtype
    Raises ShapeError if img is not (C, H, W).
    """
    img = as_img(img)
    return img[:, :: -1 if y_flip else 1, :: -1 if x_flip else 1].copy()


def flip_bbox(bbox: ArrayLike, size: Sequence[int], y_flip: bool = False, x_flip: bool = False) -> BBox:
    """The boxes of a flipped image.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    size: (H, W) of the image
    Returns (R, 4) of the same dtype, a new array.
    Raises ShapeError if bbox is not (R, 4) or size is not a pair.
    """
    bbox = as_bbox(bbox).copy()
    height, width = as_size(size)
    if y_flip:
        bbox[:, [0, 2]] = height - bbox[:, [2, 0]]
    if x_flip:
        bbox[:, [1, 3]] = width - bbox[:, [3, 1]]
    return np.ascontiguousarray(bbox)


@overload
def flip_point(  # pyright: ignore[reportOverlappingOverload]  # a list of arrays is also ArrayLike
    point: Sequence[Array], size: Sequence[int], y_flip: bool = ..., x_flip: bool = ...
) -> list[Point]: ...
@overload
def flip_point(point: ArrayLike, size: Sequence[int], y_flip: bool = ..., x_flip: bool = ...) -> Point: ...
def flip_point(
    point: ArrayLike | Sequence[Array], size: Sequence[int], y_flip: bool = False, x_flip: bool = False
) -> Point | list[Point]:
    """The points of a flipped image.

    point: (R, K, 2) or (K, 2) float32, y x, pixels, or a list of arrays (K, 2); the center of the
        first pixel is (0.5, 0.5)
    size: (H, W) of the image
    Returns the same shapes and dtypes, a new array or a list of such. Swapping left and right keypoints is up
    to the caller.
    Raises ShapeError if point is not (..., 2) or size is not a pair.
    """
    if is_list_of_points(point):
        return [flip_point(each, size, y_flip, x_flip) for each in point]
    point = as_point(point).copy()
    height, width = as_size(size)
    if y_flip:
        point[..., 0] = height - point[..., 0]
    if x_flip:
        point[..., 1] = width - point[..., 1]
    return point
