"""Non-maximum suppression (NMS): exact, and fast for sparse as well as for crowded boxes."""

import numpy as np

from cvzoo.backends.numpy.suppression import best_first, kept_by_class, kept_rows
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.typing.aliases import Array, ArrayLike, BBox


def nms(bbox: ArrayLike, score: ArrayLike | None = None, *, iou_thresh: float, limit: int | None = None) -> Array:
    """Indices of the boxes that non-maximum suppression keeps, highest score first.

    bbox: (R, 4), y_min x_min y_max x_max, pixels; compared as float32
    score: (R,), or None if the boxes are sorted by descending score; ties go to the lower index
    iou_thresh: in [0, 1]; a box is removed if its IoU with a kept one of higher score is strictly greater
    limit: maximum number of boxes to keep; None keeps all
    Returns (K,) int64.
    Raises ShapeError if the shapes do not match; ValueRangeError for NaN or infinite boxes, NaN scores, a threshold
    outside of [0, 1] or a negative limit.

    The IoU is that of `bbox_iou` in float32, and is compared with iou_thresh rounded to float32, so an IoU of exactly
    3/10 does not exceed 0.3. Empty and inverted boxes have IoU 0 with every box: they are kept and remove nothing.
    Where we differ: torchvision compares the float32 IoU with the threshold in double precision.
    """
    bbox, order, thresh = _checked(bbox, score, iou_thresh, limit)
    return order[kept_rows(bbox[order], thresh, limit)]


def classwise_nms(
    bbox: ArrayLike, label: ArrayLike, score: ArrayLike | None = None, *, iou_thresh: float, limit: int | None = None
) -> Array:
    """Indices of the boxes that class-wise NMS keeps, highest score first over all classes.

    label: (R,) integers
    limit: maximum number of boxes to keep, of all classes together; None keeps all
    bbox, score, iou_thresh, the result and the errors: as for `nms`

    NMS runs on each class separately. The common trick of one NMS over boxes that are offset by class loses bits of the
    coordinates and is not exact.
    """
    bbox, order, thresh = _checked(bbox, score, iou_thresh, limit)
    label = np.asarray(label)
    if label.shape != (len(bbox),):
        raise ShapeError("label must have one value per box", expected=(len(bbox),), got=label.shape)
    return kept_by_class(bbox, label, order, thresh, limit)


def _checked(
    bbox: ArrayLike, score: ArrayLike | None, iou_thresh: float, limit: int | None
) -> tuple[BBox, Array, np.float32]:
    bbox = as_bbox(bbox).astype(np.float32, copy=False)
    if not np.isfinite(bbox).all():
        raise ValueRangeError(
            "bbox holds NaN or infinite coordinates", hint="check the network's outputs, or clip_bbox"
        )
    if not 0 <= iou_thresh <= 1:
        raise ValueRangeError("iou_thresh must be in [0, 1]", got=iou_thresh)
    if limit is not None and limit < 0:
        raise ValueRangeError("limit must be None or not negative", got=limit)
    if score is None:
        return bbox, np.arange(len(bbox)), np.float32(iou_thresh)
    score = np.asarray(score)
    if score.shape != (len(bbox),):
        raise ShapeError("score must have one value per box", expected=(len(bbox),), got=score.shape)
    if score.dtype.kind == "f" and np.isnan(score).any():
        raise ValueRangeError(
            "score holds NaN", hint="check the network's logits: softmax and sigmoid of finite ones are finite"
        )
    return bbox, best_first(score), np.float32(iou_thresh)


def non_maximum_suppression(
    bbox: ArrayLike, thresh: float, score: ArrayLike | None = None, limit: int | None = None
) -> Array:
    """Indices of the boxes that NMS keeps by ChainerCV's rule, which removes boxes of an IoU of exactly `thresh`, too.

    thresh: in [0, 1]; a box is removed if its IoU with a kept one of higher score is at least this
    bbox, score, limit and the errors: as for `nms`
    Returns (K,) int32.
    """
    bbox, order, least = _checked(bbox, score, thresh, limit)
    if least == 0:  # every pair of boxes has an IoU of at least 0
        return order[: 1 if limit is None else min(limit, 1)].astype(np.int32)
    just_below = np.nextafter(least, np.float32(-1))
    return order[kept_rows(bbox[order], just_below, limit)].astype(np.int32)
