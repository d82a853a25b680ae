"""Rotate an image, its boxes and its points by any angle."""

import math
from collections.abc import Sequence

import numpy as np
from PIL import Image

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_point import as_point
from cvzoo.transforms.crop import filled
from cvzoo.transforms.resize import Interpolation, interpolation_name
from cvzoo.typing.aliases import Array, ArrayLike, BBox, Point, Size

_INTERPOLATIONS = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}
# of 0, 90, 180 and 270 degrees, where math.cos(math.pi / 2) is not quite 0
_QUARTERS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))


def rotate(
    img: Array, angle: float, expand: bool = True, fill: ArrayLike = 0, interpolation: Interpolation | int = "bilinear"
) -> Array:
    """The image rotated counterclockwise around its center, a new contiguous array.

    img: (C, H, W), any real dtype
    angle: degrees; multiples of 90 move pixels without interpolation
    expand: whether the result has the size that the rotated image covers; otherwise the size of img
    fill: value of the padding, one or one per channel
    interpolation: "nearest" for any dtype; "bilinear" and "bicubic" keep uint8 and make float32 of all else
    Returns (C, H', W').
    Raises ShapeError if img is not (C, H, W) or the length of fill is not 1 or C, ValueRangeError for an unknown
    interpolation.
    """
    img = as_img(img)
    interpolation = interpolation_name(interpolation)
    size = img.shape[1:]
    out_size, (cos, sin) = rotated_size(size, angle, expand=expand), _cos_sin(angle)
    if angle % 90 == 0 and (expand or out_size == (size if angle % 180 == 0 else size[::-1])):
        return np.rot90(img, int(angle // 90) % 4, axes=(1, 2)).copy()
    (in_y, in_x), (out_y, out_x) = ([side / 2 for side in each] for each in (size, out_size))
    # the inverse map, from new to old coordinates: x = cos x' - sin y' + ..., y = sin x' + cos y' + ...
    matrix = (
        *(cos, -sin, in_x - cos * out_x + sin * out_y),
        *(sin, cos, in_y - sin * out_x - cos * out_y),
    )
    if interpolation not in _INTERPOLATIONS:
        return _nearest(img, out_size, matrix, fill)
    if img.dtype not in (np.uint8, np.float32):
        img = img.astype(np.float32)
    out = np.empty((len(img), *out_size), img.dtype)
    fills = filled(img, (1, 1), fill)[:, 0, 0]
    for plane, value, result in zip(img, fills, out):
        pil = Image.fromarray(np.ascontiguousarray(plane))
        x_y_size, method = (out_size[1], out_size[0]), _INTERPOLATIONS[interpolation]
        result[...] = pil.transform(x_y_size, Image.Transform.AFFINE, matrix, method, fillcolor=value.item())
    return out


def rotate_bbox(bbox: ArrayLike, angle: float, size: Sequence[int], *, expand: bool = True) -> BBox:
    """The axis-aligned boxes around the rotated boxes; exact for multiples of 90 degrees, else larger than the objects.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    angle, expand: as given to `rotate`
    size: (H, W) of the image before the rotation
    Returns (R, 4) of the same dtype, a new array, not clipped.
    Raises ShapeError if bbox is not (R, 4) or size is not a pair.
    """
    bbox = as_bbox(bbox)
    corners = rotate_point(bbox[:, [[0, 1], [0, 3], [2, 3], [2, 1]]], angle, size, expand=expand)  # (R, 4, 2)
    return np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)


def rotate_point(point: ArrayLike, angle: float, size: Sequence[int], *, expand: bool = True) -> Point:
    """The points of a rotated image.

    point: (R, K, 2) or (K, 2) float32, y x, pixels
    angle, expand: as given to `rotate`
    size: (H, W) of the image before the rotation
    Returns the same shape and dtype, a new array.
    Raises ShapeError if point is not (..., 2) or size is not a pair.
    """
    point = as_point(point)
    size = as_size(size)
    cos, sin = _cos_sin(angle)
    matrix = np.array([[cos, -sin], [sin, cos]])
    center, new_center = np.array(size) / 2, np.array(rotated_size(size, angle, expand=expand)) / 2
    return ((point - center) @ matrix.T + new_center).astype(point.dtype)


def rotated_size(size: Sequence[int], angle: float, *, expand: bool = True) -> Size:
    """(H, W) of a rotated image: with expand the size that it covers, otherwise the size itself."""
    height, width = size = as_size(size)
    if not expand:
        return size
    cos, sin = (abs(each) for each in _cos_sin(angle))
    # the epsilon keeps the rounding error of a whole sum from adding a row
    sides = cos * height + sin * width, cos * width + sin * height
    new_height, new_width = (max(math.ceil(side - 1e-6), 1) for side in sides)
    return new_height, new_width


def _cos_sin(angle: float) -> tuple[float, float]:
    if angle % 90 == 0:
        return _QUARTERS[int(angle // 90) % 4]
    return math.cos(math.radians(angle)), math.sin(math.radians(angle))


def _nearest(img: Array, out_size: Sequence[int], matrix: Sequence[float], fill: ArrayLike) -> Array:
    (height, width), (out_h, out_w) = img.shape[1:], out_size
    y, x = np.arange(out_h)[:, None] + 0.5, np.arange(out_w) + 0.5
    in_x = np.floor(matrix[0] * x + matrix[1] * y + matrix[2]).astype(np.intp)
    in_y = np.floor(matrix[3] * x + matrix[4] * y + matrix[5]).astype(np.intp)
    inside = (in_x >= 0) & (in_x < width) & (in_y >= 0) & (in_y < height)
    out = filled(np.ascontiguousarray(img), out_size, fill)
    out[:, inside] = img[:, in_y[inside], in_x[inside]]
    return out
