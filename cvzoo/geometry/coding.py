"""Box coding: boxes encoded as offsets from anchors, and decoded again."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.numpy.detection import SIZE_CLAMP, decode_offsets
from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.typing.aliases import Array, ArrayLike, BBox

__all__ = ["SIZE_CLAMP", "decode_bbox", "encode_bbox"]


def encode_bbox(
    bbox: ArrayLike,
    anchor: ArrayLike,
    *,
    mean: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    std: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
) -> Array:
    """Regression targets: the offsets (dy, dx, dh, dw) from each anchor to its box, minus mean, divided by std.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    anchor: (R, 4) float32, likewise; row by row
    mean, std: 4 values in the order dy, dx, dh, dw; SSD's variances (.1, .2) are std=(.1, .1, .2, .2)
    Returns (R, 4) float32. An empty side counts as the smallest positive value of its dtype: nothing is infinite.
    Raises ShapeError if the two differ in shape.

    Source: Faster R-CNN (Ren et al., 2015), section 3.1.2, equation 2; order y before x as everywhere in cvzoo.
    """
    bbox, anchor = as_bbox(bbox), as_bbox(anchor, "anchor")
    _check_same(bbox, anchor, "bbox")
    tiny = np.finfo(bbox.dtype).tiny
    center, size = _center_size(bbox)
    anchor_center, anchor_size = _center_size(anchor)
    size, anchor_size = np.maximum(size, tiny), np.maximum(anchor_size, tiny)
    code = np.concatenate([(center - anchor_center) / anchor_size, np.log(size) - np.log(anchor_size)], axis=1)
    return ((code - np.asarray(mean, code.dtype)) / np.asarray(std, code.dtype)).astype(code.dtype, copy=False)


def decode_bbox(
    code: ArrayLike,
    anchor: ArrayLike,
    *,
    mean: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    std: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
) -> BBox:
    """Boxes decoded from predicted offsets and their anchors.

    code: (R, 4) float32, dy dx dh dw as returned by `encode_bbox`
    anchor: (R, 4) float32, y_min x_min y_max x_max, pixels
    mean, std: as for `encode_bbox`
    Returns (R, 4) float32, y_min x_min y_max x_max, pixels, not clipped to a image. dh and dw (after std and mean) are
    limited to log(1000 / 16), so that an extreme output gives a large box and not an infinite one.
    Raises ShapeError if the two differ in shape.
    """
    code, anchor = as_bbox(code, "code"), as_bbox(anchor, "anchor")
    _check_same(code, anchor, "code")
    return decode_offsets(code, anchor, mean=mean, std=std)


def _center_size(bbox: BBox) -> tuple[Array, Array]:
    size = bbox[:, 2:] - bbox[:, :2]
    return bbox[:, :2] + size / 2, size


def _check_same(array: Array, anchor: Array, name: str) -> None:
    if array.shape != anchor.shape:
        raise ShapeError(f"{name} and anchor must have the same shape", expected=anchor.shape, got=array.shape)
