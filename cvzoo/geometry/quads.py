"""Conversions between quadrilaterals, the annotations of text regions, and boxes."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.typing.aliases import Array, ArrayLike, BBox


def quad_to_bbox(quad: ArrayLike) -> BBox:
    """The axis-aligned bounding boxes of quadrilaterals, (R, 4), float32 unless quad is float64.

    quad: (R, 4, 2), (y, x) of four corners in any order
    Raises ShapeError if quad is not (R, 4, 2).
    """
    quad = np.asarray(quad)
    if quad.ndim != 3 or quad.shape[1:] != (4, 2):
        raise ShapeError("quad must be (R, 4, 2): (y, x) of four corners", got=quad.shape)
    return as_bbox(np.concatenate([quad.min(axis=1), quad.max(axis=1)], axis=1))


def bbox_to_quad(bbox: ArrayLike) -> Array:
    """The corners of boxes, (R, 4, 2), (y, x): top left, top right, bottom right, bottom left.

    bbox: (R, 4)
    Raises ShapeError if bbox is not (R, 4).
    """
    y_min, x_min, y_max, x_max = as_bbox(bbox).T
    corners = [(y_min, x_min), (y_min, x_max), (y_max, x_max), (y_max, x_min)]
    return np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
