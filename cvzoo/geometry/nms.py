"""Non-maximum suppression: exact, and fast where boxes are spread out as well as where they pile up."""

import math

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.geometry.overlapping_pairs import overlapped, overlapping_pairs

# Up to here all pairs at once are quicker than any plan
_FEW = 100
# How many boxes are looked at first, to see how much they overlap; never fewer at a time
_HEAD = 256
# How many boxes are looked at for each that is wanted, before others are
_WANTED = 4
# How many overlapping pairs one round should hold
_PAIRS = 100_000


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
    kept = _kept(bbox[order], thresh, limit)
    return order[kept[:limit]]


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
    # what stays depends on better boxes only: where a few are wanted, the worst need no look
    count = len(order) if limit is None else max(_WANTED * limit, _HEAD)
    while True:
        first = order[:count]
        kept = _kept_by_class(bbox[first], label[first], thresh, limit)
        if count >= len(order) or len(kept) >= limit:
            return first[kept[:limit]]
        count *= 4


def _kept_by_class(bbox, label, thresh, limit):
    """As `_kept`, each class by itself."""
    by_class = np.argsort(label, kind="stable")
    groups = np.split(by_class, np.flatnonzero(np.diff(label[by_class])) + 1)
    return np.sort(np.concatenate([group[_kept(bbox[group], thresh, limit)] for group in groups]))


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
    # the last of the reversed is the best; sorting reversed keeps the earlier of equals first
    order = len(score) - 1 - np.argsort(score[::-1], kind="stable")[::-1]
    return bbox, order, np.float32(iou_thresh)


def _kept(bbox, thresh, limit):
    """The rows that stay, ascending, of boxes that come best first; perhaps more than limit."""
    # overflow of the area of huge boxes gives an IoU of 0 or NaN, which exceeds nothing
    with np.errstate(over="ignore", invalid="ignore"):
        if len(bbox) <= _FEW:
            return np.flatnonzero(_survivors(len(bbox), *np.nonzero(np.triu(bbox_iou(bbox, bbox) > thresh, 1))))
        return _kept_in_rounds(bbox, thresh, len(bbox) if limit is None else limit)


def _kept_in_rounds(bbox, thresh, limit):
    kept, rest, size = [], np.arange(len(bbox)), _HEAD
    while len(rest) and limit > 0:
        head = rest[:size]
        pairs = overlapping_pairs(bbox[head], thresh, cap=None if size <= _HEAD else 4 * _PAIRS)
        if pairs is None:
            size = max(size // 4, _HEAD)
            continue
        head = head[_survivors(len(head), *pairs)]
        kept.append(head)
        limit -= len(head)
        rest = rest[size:]
        rest = rest[~overlapped(bbox[rest], bbox[head], thresh)]
        # pairs grow with the square of the number of boxes
        size = int(min(size * math.sqrt(_PAIRS / max(len(pairs[0]), 1)), max(4 * limit, 0)))
        size = max(size, _HEAD)
    return np.concatenate(kept) if kept else np.empty(0, np.int64)


def _survivors(n_bbox, first, second):
    """(R,) bool: who is left when, from the first box on, each that is left removes the second of its pairs."""
    order = np.argsort(first, kind="stable")
    alive = bytearray(b"\x01") * n_bbox
    for i, j in zip(first[order].tolist(), second[order].tolist()):
        if alive[i]:
            alive[j] = 0
    return np.frombuffer(alive, dtype=bool)
