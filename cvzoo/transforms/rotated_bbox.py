"""Turned boxes that follow their photo.

A turned box (one of `rbbox`, (R, 5) float32) is y, x of its middle, height and width, all in pixels, and the degrees
by which it is turned counterclockwise, as `rotate` turns a photo. Quadrilaterals (R, 4, 2) need nothing of their own:
their corners are points, for `flip_point`, `resize_point`, `translate_point` and `rotate_point`.
"""

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_point import as_point
from cvzoo.transforms.resize_bbox import resize_point
from cvzoo.transforms.rotate import rotate_point


def as_rbbox(rbbox):
    """The turned boxes as a floating (R, 5) array. Raises ShapeError or DtypeError for anything else."""
    array = np.asarray(rbbox)
    if array.dtype.kind not in "fiub":
        raise DtypeError("rbbox must hold real numbers", expected="float32", got=array.dtype)
    if array.ndim == 1 and array.size == 0:
        array = array.reshape(0, 5)
    if array.ndim != 2 or array.shape[1] != 5:
        raise ShapeError("rbbox must be (R, 5): y, x, height, width, degrees", got=array.shape)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float32)


def rbbox_to_quad(rbbox):
    """The corners of turned boxes, (R, 4, 2) y x: top left, top right, bottom right, bottom left before the turn."""
    rbbox = as_rbbox(rbbox)
    half = rbbox[:, None, 2:4] / 2 * np.array([[-1, -1], [-1, 1], [1, 1], [1, -1]], rbbox.dtype)  # (R, 4, 2)
    cos, sin = _cos_sin(rbbox[:, 4:])
    y, x = half[..., 0], half[..., 1]
    return np.stack([cos * y - sin * x, sin * y + cos * x], axis=2) + rbbox[:, None, :2]


def quad_to_rbbox(quad):
    """The smallest turned boxes around quadrilaterals, degrees in [-45, 45].

    quad: (R, 4, 2) float32, y x of four corners in any order
    Returns (R, 5) of the same dtype.
    Raises ShapeError if quad is not (R, 4, 2).
    """
    quad = as_point(quad, "quad")
    if quad.ndim != 3 or quad.shape[1] != 4:
        raise ShapeError("quad must be (R, 4, 2): y, x of four corners", got=quad.shape)
    # the smallest box shares a side's direction with the convex hull, whose sides join two of the corners
    first, second = np.triu_indices(4, 1)
    dy, dx = np.moveaxis((quad[:, second] - quad[:, first]).astype(np.float64), 2, 0)  # (R, 6)
    angle = np.degrees(np.arctan2(-dy, dx))
    angle = (angle + 45) % 90 - 45
    cos, sin = _cos_sin(angle)
    y, x = (quad[:, None, :, axis].astype(np.float64) for axis in (0, 1))  # (R, 1, 4)
    cos, sin = cos[:, :, None], sin[:, :, None]
    turned = np.stack([cos * y + sin * x, cos * x - sin * y], axis=3)  # (R, 6, 4, 2), the corners turned back
    low, high = turned.min(axis=2), turned.max(axis=2)
    row, best = np.arange(len(quad)), (high - low).prod(axis=2).argmin(axis=1)
    low, high, angle = low[row, best], high[row, best], angle[row, best]
    middle = (low + high) / 2
    cos, sin = _cos_sin(angle)
    out = np.empty((len(quad), 5), quad.dtype)
    out[:, 0] = cos * middle[:, 0] - sin * middle[:, 1]
    out[:, 1] = sin * middle[:, 0] + cos * middle[:, 1]
    out[:, 2:4] = high - low
    out[:, 4] = angle
    return out


def flip_rbbox(rbbox, size, *, y_flip=False, x_flip=False):
    """The turned boxes of a mirrored photo of size (H, W), (R, 5), a new array. Raises ShapeError if not (R, 5)."""
    rbbox = as_rbbox(rbbox).copy()
    height, width = as_size(size)
    if y_flip:
        rbbox[:, 0] = height - rbbox[:, 0]
    if x_flip:
        rbbox[:, 1] = width - rbbox[:, 1]
    if y_flip != x_flip:
        rbbox[:, 4] = -rbbox[:, 4]
    return rbbox


def translate_rbbox(rbbox, *, y_offset=0, x_offset=0):
    """The turned boxes moved down and right by pixels, (R, 5), a new array. Raises ShapeError if not (R, 5)."""
    rbbox = as_rbbox(rbbox)
    return rbbox + np.array([y_offset, x_offset, 0, 0, 0], rbbox.dtype)


def resize_rbbox(rbbox, in_size, out_size):
    """The turned boxes of a resized photo, (R, 5), a new array.

    A photo that is stretched makes a parallelogram of a turned box: this is the smallest turned box around it.
    Raises ShapeError if rbbox is not (R, 5) or a size no pair.
    """
    rbbox = as_rbbox(rbbox)
    (in_h, in_w), (out_h, out_w) = as_size(in_size, "in_size"), as_size(out_size, "out_size")
    if in_h * out_w == in_w * out_h:
        factor = out_h / in_h
        return rbbox * np.array([factor, factor, factor, factor, 1], rbbox.dtype)
    return quad_to_rbbox(resize_point(rbbox_to_quad(rbbox), in_size, out_size))


def rotate_rbbox(rbbox, angle, size, *, expand=True):
    """The turned boxes of a photo of size (H, W) turned by `rotate`, (R, 5), a new array; exact for every angle.

    Raises ShapeError if rbbox is not (R, 5) or size no pair.
    """
    rbbox = as_rbbox(rbbox).copy()
    rbbox[:, :2] = rotate_point(rbbox[:, :2], angle, size, expand=expand)
    rbbox[:, 4] += angle
    return rbbox


def _cos_sin(angle):
    radians = np.radians(angle)
    return np.cos(radians), np.sin(radians)
