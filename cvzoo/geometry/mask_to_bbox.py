"""Bounding boxes of dense masks."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError


def mask_to_bbox(mask):
    """The smallest box around each mask.

    mask: (R, H, W) bool
    Returns (R, 4) float32 y_min, x_min, y_max, x_max, pixels, half-open; zeros for an empty mask.
    Raises ShapeError if mask is not (R, H, W).
    """
    mask = np.asarray(mask, bool)
    if mask.ndim != 3:
        raise ShapeError("mask must be (R, H, W)", got=mask.shape, hint="mask[None] for a single mask")
    bbox = np.zeros((len(mask), 4), np.float32)
    if mask.size == 0:
        return bbox
    for axis in (0, 1):
        shadow = mask.any(axis=2 - axis)  # (R, H), then (R, W)
        some = shadow.any(axis=1)
        bbox[some, axis] = shadow.argmax(axis=1)[some]
        bbox[some, axis + 2] = shadow.shape[1] - shadow[:, ::-1].argmax(axis=1)[some]
    return bbox
