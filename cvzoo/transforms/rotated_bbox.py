"""Geometric transforms of rotated bounding boxes.

A rotated box (a row of `rbbox`, (R, 5) float32) is y and x of its center, height and width, all in pixels, and its
counterclockwise rotation in degrees, the direction of `rotate`. Quadrilaterals (R, 4, 2) need no functions of their
own: their corners are points, for `flip_point`, `resize_point`, `translate_point` and `rotate_point`.
"""

from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_point import as_point
from cvzoo.transforms.resize_bbox import resize_point
from cvzoo.transforms.rotate import rotate_point
from cvzoo.typing.aliases import Array, ArrayLike


def as_rbbox(rbbox: ArrayLike) -> Array:
    """The rotated boxes as a floating-point (R, 5) array. Raises ShapeError or DtypeError for any other input."""
    array = np.asarray(rbbox)
    if array.dtype.kind not in "fiub":
        raise DtypeError("rbbox must hold real numbers", expected="float32", got=array.dtype)
    if array.ndim == 1 and array.size == 0:
        array = array.reshape(0, 5)
    if array.ndim != 2 or array.shape[1] != 5:
        raise ShapeError("rbbox must be (R, 5): y, x, height, width, degrees", got=array.shape)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float32)


def rbbox_to_quad(rbbox: ArrayLike) -> Array:
    """The corners of rotated boxes, (R, 4, 2) y x: top left, top right, bottom right, bottom left before rotation."""
    rbbox = as_rbbox(rbbox)
    half = rbbox[:, None, 2:4] / 2 * np.array([[-1, -1], [-1, 1], [1, 1], [1, -1]], rbbox.dtype)  # (R, 4, 2)
    cos, sin = _cos_sin(rbbox[:, 4:])
    y, x = half[..., 0], half[..., 1]
    return np.stack([cos * y - sin * x, sin * y + cos * x], axis=2) + rbbox[:, None, :2]


def quad_to_rbbox(quad: ArrayLike) -> Array:
    """The smallest rotated boxes that enclose quadrilaterals, degrees in [-45, 45].

    quad: (R, 4, 2) float32, y x of four corners in any order
    Returns (R, 5) of the same dtype.
    Raises ShapeError if quad is not (R, 4, 2).
    """
    quad = as_point(quad, "quad")
    if quad.ndim != 3 or quad.shape[1] != 4:
        raise ShapeError("quad must be (R, 4, 2): y, x of four corners", got=quad.shape)
    # the smallest box has a side parallel to one of the convex hull, and those join two of the corners
    first, second = np.triu_indices(4, 1)
    dy, dx = np.moveaxis((quad[:, second] - quad[:, first]).astype(np.float64), 2, 0)  # (R, 6)
    angle = np.degrees(np.arctan2(-dy, dx))
    angle = (angle + 45) % 90 - 45
    cos, sin = _cos_sin(angle)
    y, x = (quad[:, None, :, axis].astype(np.float64) for axis in (0, 1))  # (R, 1, 4)
    cos, sin = cos[:, :, None], sin[:, :, None]
    aligned = np.stack([cos * y + sin * x, cos * x - sin * y], axis=3)  # (R, 6, 4, 2), the corners rotated back
    low, high = aligned.min(axis=2), aligned.max(axis=2)
    row, best = np.arange(len(quad)), (high - low).prod(axis=2).argmin(axis=1)
    low, high, angle = low[row, best], high[row, best], angle[row, best]
    center = (low + high) / 2
    cos, sin = _cos_sin(angle)
    out = np.empty((len(quad), 5), quad.dtype)
    out[:, 0] = cos * center[:, 0] - sin * center[:, 1]
    out[:, 1] = sin * center[:, 0] + cos * center[:, 1]
    out[:, 2:4] = high - low
    out[:, 4] = angle
    return out


def flip_rbbox(rbbox: ArrayLike, size: Sequence[int], *, y_flip: bool = False, x_flip: bool = False) -> Array:
    """The rotated boxes of a flipped image of size (H, W), (R, 5), a new array. Raises ShapeError if not (R, 5)."""
    rbbox = as_rbbox(rbbox).copy()
    height, width = as_size(size)
    if y_flip:
        rbbox[:, 0] = height - rbbox[:, 0]
    if x_flip:
        rbbox[:, 1] = width - rbbox[:, 1]
    if y_flip != x_flip:
        rbbox[:, 4] = -rbbox[:, 4]
    return rbbox


def translate_rbbox(rbbox: ArrayLike, *, y_offset: float = 0, x_offset: float = 0) -> Array:
    """The rotated boxes translated down and right in pixels, (R, 5), a new array. Raises ShapeError if not (R, 5)."""
    rbbox = as_rbbox(rbbox)
    return rbbox + np.array([y_offset, x_offset, 0, 0, 0], rbbox.dtype)


def resize_rbbox(rbbox: ArrayLike, in_size: Sequence[int], out_size: Sequence[int]) -> Array:
    """The rotated boxes of a resized image, (R, 5), a new array.

    A change of the aspect ratio turns a rotated box into a parallelogram: the result is the smallest box around that.
    Raises ShapeError if rbbox is not (R, 5) or a size is not a pair.
    """
    rbbox = as_rbbox(rbbox)
    (in_h, in_w), (out_h, out_w) = as_size(in_size, "in_size"), as_size(out_size, "out_size")
    if in_h * out_w == in_w * out_h:
        factor = out_h / in_h
        return rbbox * np.array([factor, factor, factor, factor, 1], rbbox.dtype)
    return quad_to_rbbox(resize_point(rbbox_to_quad(rbbox), in_size, out_size))


def rotate_rbbox(rbbox: ArrayLike, angle: float, size: Sequence[int], *, expand: bool = True) -> Array:
    """The rotated boxes of an image of size (H, W) rotated by `rotate`, (R, 5), a new array; exact for every angle.

    Raises ShapeError if rbbox is not (R, 5) or size is not a pair.
    """
    rbbox = as_rbbox(rbbox).copy()
    rbbox[:, :2] = rotate_point(rbbox[:, :2], angle, size, expand=expand)
    rbbox[:, 4] += angle
    return rbbox


def _cos_sin(angle: ArrayLike) -> tuple[Array, Array]:
    radians = np.radians(angle)
    return np.cos(radians), np.sin(radians)
