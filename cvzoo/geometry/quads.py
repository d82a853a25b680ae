"""Quadrilaterals, as text regions are marked, and boxes."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_bbox import as_bbox


def quad_to_bbox(quad):
    """The upright boxes around quadrilaterals, (R, 4), float32 unless float64 came in.

    quad: (R, 4, 2), (y, x) of four corners in any order
    Raises ShapeError if it is not.
    """
    quad = np.asarray(quad)
    if quad.ndim != 3 or quad.shape[1:] != (4, 2):
        raise ShapeError("quad must be (R, 4, 2): (y, x) of four corners", got=quad.shape)
    return as_bbox(np.concatenate([quad.min(axis=1), quad.max(axis=1)], axis=1))


def bbox_to_quad(bbox):
    """The corners of boxes, (R, 4, 2), (y, x): top left, top right, bottom right, bottom left.

    bbox: (R, 4)
    Raises ShapeError if it is not.
    """
    y_min, x_min, y_max, x_max = as_bbox(bbox).T
    corners = [(y_min, x_min), (y_min, x_max), (y_max, x_max), (y_max, x_min)]
    return np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
