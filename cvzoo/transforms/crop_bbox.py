"""Boxes of a cropped photo."""

import numpy as np

from cvzoo.geometry.as_bbox import as_bbox


def crop_bbox(bbox, *, y_slice=None, x_slice=None, allow_outside_center=True, return_param=False):
    """The boxes cut to a window of the photo, in pixels of the window; those with nothing left in it are dropped.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    y_slice, x_slice: the window, as in img[:, y_slice, x_slice], without a step; None is the whole side
    allow_outside_center: if false, boxes whose centre is outside of the window are dropped too
    Returns (R', 4) of the same dtype, a new array; with return_param also a dictionary:
        index: (R',) int, which of the boxes these are
        truncated_index: int, which of the boxes that are left lost a part
    Raises ShapeError if bbox is not (R, 4).
    """
    bbox = as_bbox(bbox)
    low = [(side.start or 0) if side else 0 for side in (y_slice, x_slice)]
    high = [np.inf if side is None or side.stop is None else side.stop for side in (y_slice, x_slice)]
    offset = np.array(low, dtype=bbox.dtype)
    limit = np.array(high, dtype=bbox.dtype)
    cropped = np.concatenate([np.maximum(bbox[:, :2], offset), np.minimum(bbox[:, 2:], limit)], axis=1)
    kept = (cropped[:, :2] < cropped[:, 2:]).all(axis=1)
    if not allow_outside_center:
        center = (bbox[:, :2] + bbox[:, 2:]) / 2
        kept &= ((offset <= center) & (center < limit)).all(axis=1)
    index = kept.nonzero()[0]
    truncated = (cropped != bbox).any(axis=1)[index].nonzero()[0]
    cropped = cropped[index]
    cropped[:, :2] -= offset
    cropped[:, 2:] -= offset
    return (cropped, {"index": index, "truncated_index": truncated}) if return_param else cropped
