"""Bounding boxes of a cropped image."""

from typing import Literal, overload

import numpy as np

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.typing.aliases import Array, ArrayLike, BBox


@overload
def crop_bbox(
    bbox: ArrayLike,
    y_slice: slice | None = ...,
    x_slice: slice | None = ...,
    allow_outside_center: bool = ...,
    return_param: Literal[False] = False,
) -> BBox: ...
@overload
def crop_bbox(
    bbox: ArrayLike,
    y_slice: slice | None = ...,
    x_slice: slice | None = ...,
    allow_outside_center: bool = ...,
    *,
    return_param: Literal[True],
) -> tuple[BBox, dict[str, Array]]: ...
def crop_bbox(
    bbox: ArrayLike,
    y_slice: slice | None = None,
    x_slice: slice | None = None,
    allow_outside_center: bool = True,
    return_param: bool = False,
) -> BBox | tuple[BBox, dict[str, Array]]:
    """The boxes clipped to a window of the image, in pixels of the window; boxes outside of it are dropped.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    y_slice, x_slice: the window, as in img[:, y_slice, x_slice], without a step; None is the full side
    allow_outside_center: if false, boxes whose center is outside of the window are dropped too
    Returns (R', 4) of the same dtype, a new array; with return_param, also a dictionary:
        index: (R',) int, indices of the remaining boxes
        truncated_index: int, indices of those remaining boxes that were truncated
    Raises ShapeError if bbox is not (R, 4).
    """
    bbox = as_bbox(bbox)
    low = [(side.start or 0) if side else 0 for side in (y_slice, x_slice)]
    high = [np.inf if side is None or side.stop is None else side.stop for side in (y_slice, x_slice)]
    offset = np.array(low, dtype=bbox.dtype)
    limit = np.array(high, dtype=bbox.dtype)
    cropped = np.concatenate([np.maximum(bbox[:, :2], offset), np.minimum(bbox[:, 2:], limit)], axis=1)
    kept = np.all(cropped[:, :2] < cropped[:, 2:], axis=1)
    if not allow_outside_center:
        center = (bbox[:, :2] + bbox[:, 2:]) / 2
        kept &= np.all((offset <= center) & (center < limit), axis=1)
    index = kept.nonzero()[0]
    truncated = np.any(cropped != bbox, axis=1)[index].nonzero()[0]
    cropped = cropped[index]
    cropped[:, :2] -= offset
    cropped[:, 2:] -= offset
    return (cropped, {"index": index, "truncated_index": truncated}) if return_param else cropped
