"""Non-maximum suppression: exact, and fast where boxes are spread out as well as where they pile up."""

import numpy as np

from cvzoo.backends.numpy.suppression import best_first, kept_by_class, kept_rows
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.as_bbox import as_bbox


def nms(bbox, score=None, *, iou_thresh, limit=None):
    """Indices of the boxes that stay, best first: each box in turn removes those after it that overlap it too much.

    bbox: (R, 4), y_min x_min y_max x_max, pixels; compared as float32
    score: (R,), or None if the boxes come best first; of equal scores, the earlier box is the better one
    iou_thresh: in [0, 1]; a box goes if its IoU with a better one that stayed is strictly greater
    limit: None, or how many to keep at most
    Returns (K,) int64.
    Raises ShapeError if the shapes do not match; ValueRangeError for NaN or infinite boxes, NaN scores, a threshold
    outside of [0, 1] or a negative limit.

    The IoU is that of `bbox_iou` in float32, and is compared with iou_thresh rounded to float32, so an IoU of exactly
    3/10 does not exceed 0.3. Empty and inverted boxes have IoU 0 with every box: they stay and remove nothing.
    Where we differ: torchvision compares the float32 IoU with the threshold in double precision.
    """
    bbox, order, thresh = _checked(bbox, score, iou_thresh, limit)
    return order[kept_rows(bbox[order], thresh, limit)]


def classwise_nms(bbox, label, score=None, *, iou_thresh, limit=None):
    """Indices of the boxes that stay when boxes remove only boxes of their own class, best first over all classes.

    label: (R,) integers
    limit: None, or how many to keep at most, of all classes together
    bbox, score, iou_thresh, the result and what is raised: as for `nms`

    Each class is suppressed by itself; shifting the classes apart and suppressing once, as is often done, loses bits of
    the coordinates, and with them the exactness.
    """
    bbox, order, thresh = _checked(bbox, score, iou_thresh, limit)
    label = np.asarray(label)
    if label.shape != (len(bbox),):
        raise ShapeError("label must have one entry a box", expected=(len(bbox),), got=label.shape)
    return kept_by_class(bbox, label, order, thresh, limit)


def _checked(bbox, score, iou_thresh, limit):
    bbox = as_bbox(bbox).astype(np.float32, copy=False)
    if not np.isfinite(bbox).all():
        raise ValueRangeError("bbox holds NaN or infinite coordinates", hint="clip_bbox, and look at the network")
    if not 0 <= iou_thresh <= 1:
        raise ValueRangeError("iou_thresh must lie in [0, 1]", got=iou_thresh)
    if limit is not None and limit < 0:
        raise ValueRangeError("limit must be None or not negative", got=limit)
    if score is None:
        return bbox, np.arange(len(bbox)), np.float32(iou_thresh)
    score = np.asarray(score)
    if score.shape != (len(bbox),):
        raise ShapeError("score must have one entry a box", expected=(len(bbox),), got=score.shape)
    if score.dtype.kind == "f" and np.isnan(score).any():
        raise ValueRangeError("score holds NaN", hint="look at the network: softmax and sigmoid never give NaN")
    return bbox, best_first(score), np.float32(iou_thresh)


def non_maximum_suppression(bbox, thresh, score=None, limit=None):
    """Indices of the boxes that stay, best first, by ChainerCV's rule: an IoU of exactly `thresh` is too much already.

    thresh: in [0, 1]; a box goes if its IoU with a better one that stayed is at least this
    bbox, score, limit and what is raised: as for `nms`
    Returns (K,) int32.
    """
    bbox, order, thresh = _checked(bbox, score, thresh, limit)
    if thresh == 0:  # every pair of boxes overlaps by at least nothing
        return order[: 1 if limit is None else min(limit, 1)].astype(np.int32)
    just_below = np.nextafter(thresh, np.float32(-1))
    return order[kept_rows(bbox[order], just_below, limit)].astype(np.int32)
