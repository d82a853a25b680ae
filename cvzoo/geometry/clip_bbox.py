"""Clip boxes to the image."""

from collections.abc import Sequence

import numpy as np

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.as_size import as_size
from cvzoo.typing.aliases import Array, ArrayLike, BBox


def clip_bbox(bbox: ArrayLike, size: Sequence[int] | Array) -> BBox:
    """The boxes clipped to the image: a new array with every coordinate limited to [0, H] or [0, W].

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    size: (H, W) of the image
    Returns (R, 4) of the same dtype; a box fully outside becomes empty at the border, none is dropped; NaN stays NaN.
    Raises ShapeError if bbox is not (R, 4) or size is not a pair of positive integers.
    """
    bbox = as_bbox(bbox)
    height, width = as_size(size)
    return np.clip(bbox, 0, np.array([height, width, height, width], dtype=bbox.dtype))
