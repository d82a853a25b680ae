"""Non-maximum suppression: exact, and fast where boxes are spread out as well as where they pile up."""

import math

import numpy as np

from cvzoo.backends.numpy.iou import box_iou
from cvzoo.backends.numpy.overlapping_pairs import overlapped, overlapping_pairs

# Up to here all pairs at once are quicker than any plan
_FEW = 100
# How many boxes are looked at first, to see how much they overlap; never fewer at a time
_HEAD = 256
# How many boxes are looked at for each that is wanted, before others are
_WANTED = 4
# How many overlapping pairs one round should hold
_PAIRS = 100_000


def best_first(score: np.ndarray) -> np.ndarray:
    """(R,) int64: the places of score (R,), the greatest first, of equals the first."""
    # the last of the reversed is the best; sorting reversed keeps the earlier of equals first
    return len(score) - 1 - np.argsort(score[::-1], kind="stable")[::-1]


def kept_rows(bbox: np.ndarray, thresh: np.float32, limit: int | None) -> np.ndarray:
    """(K,) int64: which of bbox (R, 4) float32, best first, stay where each in turn removes those that overlap it.

    limit: how many stay at most, the first; None: all
    """
    return _kept(bbox, thresh, limit)[:limit]


def kept_by_class(
    bbox: np.ndarray, label: np.ndarray, order: np.ndarray, thresh: np.float32, limit: int | None
) -> np.ndarray:
    """Those of `order` (R,), the rows of bbox (R, 4) from the best on, that stay where boxes remove only boxes of their
    own label (R,)."""
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


def _kept(bbox, thresh, limit):
    """The rows that stay, ascending, of boxes that come best first; perhaps more than limit."""
    # overflow of the area of huge boxes gives an IoU of 0 or NaN, which exceeds nothing
    with np.errstate(over="ignore", invalid="ignore"):
        if len(bbox) <= _FEW:
            return np.flatnonzero(_survivors(len(bbox), *np.nonzero(np.triu(box_iou(bbox, bbox) > thresh, 1))))
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
