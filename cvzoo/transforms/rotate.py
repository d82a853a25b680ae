"""Turn a photo, its boxes and its points, by any angle."""

import math

import numpy as np
from PIL import Image

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_point import as_point
from cvzoo.transforms.crop import filled
from cvzoo.transforms.resize import Interpolation, interpolation_name

_INTERPOLATIONS = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}
# of 0, 90, 180 and 270 degrees, where math.cos(math.pi / 2) is not quite 0
_QUARTERS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))


def rotate(img, angle, *, expand=True, fill=0, interpolation: Interpolation = "bilinear"):
    """The photo turned counterclockwise about its middle, a new contiguous array.

    img: (C, H, W), any real dtype
    angle: degrees; multiples of 90 move pixels and change none
    expand: whether the frame grows or shrinks to what the turned photo covers; otherwise it stays
    fill: what comes into view, one number or one a channel
    interpolation: "nearest" for any dtype; "bilinear" and "bicubic" keep uint8 and make float32 of all else
    Returns (C, H', W').
    Raises ShapeError if img is not (C, H, W) or the fill does not fit, ValueRangeError for another interpolation.
    """
    img = as_img(img)
    interpolation = interpolation_name(interpolation)
    size = img.shape[1:]
    out_size, (cos, sin) = rotated_size(size, angle, expand=expand), _cos_sin(angle)
    if angle % 90 == 0 and (expand or out_size == (size if angle % 180 == 0 else size[::-1])):
        return np.rot90(img, int(angle // 90) % 4, axes=(1, 2)).copy()
    (in_y, in_x), (out_y, out_x) = ([side / 2 for side in each] for each in (size, out_size))
    # from the new photo to the old one: x = cos x' - sin y' + ..., y = sin x' + cos y' + ...
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
        result[...] = pil.transform(
            out_size[::-1], Image.Transform.AFFINE, matrix, _INTERPOLATIONS[interpolation], fillcolor=value.item()
        )
    return out


def rotate_bbox(bbox, angle, size, *, expand=True):
    """The upright boxes around the turned boxes; exact for multiples of 90 degrees, larger than the objects otherwise.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    angle, expand: as given to `rotate`
    size: (H, W) of the photo before it is turned
    Returns (R, 4) of the same dtype, a new array, not clipped.
    Raises ShapeError if bbox is not (R, 4) or size no pair.
    """
    bbox = as_bbox(bbox)
    corners = rotate_point(bbox[:, [[0, 1], [0, 3], [2, 3], [2, 1]]], angle, size, expand=expand)  # (R, 4, 2)
    return np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)


def rotate_point(point, angle, size, *, expand=True):
    """The points of a turned photo.

    point: (R, K, 2) or (K, 2) float32, y x, pixels
    angle, expand: as given to `rotate`
    size: (H, W) of the photo before it is turned
    Returns the same shape and dtype, a new array.
    Raises ShapeError if point is not (..., 2) or size no pair.
    """
    point = as_point(point)
    size = as_size(size)
    cos, sin = _cos_sin(angle)
    matrix = np.array([[cos, -sin], [sin, cos]])
    middle, new_middle = np.array(size) / 2, np.array(rotated_size(size, angle, expand=expand)) / 2
    return ((point - middle) @ matrix.T + new_middle).astype(point.dtype)


def rotated_size(size, angle, *, expand=True):
    """(H, W) of a turned photo: with expand what it covers, otherwise the size itself."""
    height, width = size = as_size(size)
    if not expand:
        return size
    cos, sin = (abs(each) for each in _cos_sin(angle))
    # a hair less, so that no row is added for the rounding of a sum that is whole
    return tuple(max(math.ceil(side - 1e-6), 1) for side in (cos * height + sin * width, cos * width + sin * height))


def _cos_sin(angle):
    if angle % 90 == 0:
        return _QUARTERS[int(angle // 90) % 4]
    return math.cos(math.radians(angle)), math.sin(math.radians(angle))


def _nearest(img, out_size, matrix, fill):
    (height, width), (out_h, out_w) = img.shape[1:], out_size
    y, x = np.arange(out_h)[:, None] + 0.5, np.arange(out_w) + 0.5
    in_x = np.floor(matrix[0] * x + matrix[1] * y + matrix[2]).astype(np.intp)
    in_y = np.floor(matrix[3] * x + matrix[4] * y + matrix[5]).astype(np.intp)
    inside = (in_x >= 0) & (in_x < width) & (in_y >= 0) & (in_y < height)
    out = filled(np.ascontiguousarray(img), out_size, fill)
    out[:, inside] = img[:, in_y[inside], in_x[inside]]
    return out
