"""Boxes of a resized photo."""

import numpy as np

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.as_size import as_size


def resize_bbox(bbox, in_size, out_size):
    """The boxes scaled as the photo was, height and width each by its own factor.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    in_size, out_size: (H, W) of the photo before and after
    Returns (R, 4) of the same dtype, a new array.
    Raises ShapeError if bbox is not (R, 4) or a size no pair.
    """
    bbox = as_bbox(bbox)
    (in_h, in_w), (out_h, out_w) = as_size(in_size, "in_size"), as_size(out_size, "out_size")
    return bbox * np.array([out_h / in_h, out_w / in_w] * 2, dtype=bbox.dtype)
