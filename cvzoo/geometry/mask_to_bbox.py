"""Bounding boxes of dense binary masks."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.typing.aliases import ArrayLike, BBox


def mask_to_bbox(mask: ArrayLike) -> BBox:
    """The bounding box of each mask.

    mask: (R, H, W) bool
    Returns (R, 4) float32 y_min, x_min, y_max, x_max, pixels, half-open; zeros for an empty mask.
    Raises ShapeError if mask is not (R, H, W).
    """
    mask = np.asarray(mask, dtype=bool)
    if mask.ndim != 3:
        raise ShapeError("mask must be (R, H, W)", got=mask.shape, hint="mask[None] for a single mask")
    bbox = np.zeros((len(mask), 4), np.float32)
    if mask.size == 0:
        return bbox
    for axis in (0, 1):
        projection = np.any(mask, axis=2 - axis)  # (R, H), then (R, W)
        some = np.any(projection, axis=1)
        bbox[some, axis] = projection.argmax(axis=1)[some]
        bbox[some, axis + 2] = projection.shape[1] - projection[:, ::-1].argmax(axis=1)[some]
    return bbox
