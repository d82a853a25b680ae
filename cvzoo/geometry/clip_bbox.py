"""Clip boxes to their photo."""

import numpy as np

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.as_size import as_size


def clip_bbox(bbox, size):
    """The boxes cut to the photo: a new array with every coordinate moved into [0, H] or [0, W].

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    size: (H, W) of the photo
    Returns (R, 4) of the same dtype; a box wholly outside becomes empty on the border, none is dropped; NaN stays NaN.
    Raises ShapeError if bbox is not (R, 4) or size is not a pair of positive integers.
    """
    bbox = as_bbox(bbox)
    height, width = as_size(size)
    return np.clip(bbox, 0, np.array([height, width, height, width], dtype=bbox.dtype))
