"""Boxes' areas and IoU, and non-maximum suppression: exact, and fast for sparse boxes as well as for crowded ones."""

import math
from collections.abc import Sequence

import numpy as np

from cvzoo.backends.native.suppression import kept_natively


def box_area(bbox: np.ndarray) -> np.ndarray:
    """(R,): height times width of bbox (R, 4); 0 for what is empty or inverted."""
    return np.maximum(bbox[:, 2] - bbox[:, 0], 0) * np.maximum(bbox[:, 3] - bbox[:, 1], 0)


def box_intersection(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(N, K): the area that each of a (N, 4) shares with each of b (K, 4)."""
    height, width = (
        np.minimum(a[:, None, axis + 2], b[:, axis + 2]) - np.maximum(a[:, None, axis], b[:, axis]) for axis in (0, 1)
    )
    return np.maximum(height, 0) * np.maximum(width, 0)


def box_iou(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(N, K): inter / ((area_a + area_b) - inter), in this order; 0 where both are empty."""
    inter = box_intersection(a, b)
    union = box_area(a)[:, None] + box_area(b) - inter
    return np.divide(inter, union, out=np.zeros_like(inter), where=union > 0)


Pairs = tuple[np.ndarray, np.ndarray]
# Elements of one dense block of comparisons: its few temporaries stay in a level-2 cache
_BLOCK = 1 << 17
# Candidates whose IoU is computed in one go
_FLUSH = 1 << 16
# The area of a box below this side may lose digits to underflow: such boxes are always compared exactly
_TINY_SIDE = np.float32(1e-15)


def overlapping_pairs(bbox: np.ndarray, thresh: np.float32, *, cap: int | None = None) -> Pairs | None:
    """Every pair (first, second) of rows of bbox with first < second and IoU > thresh, in no particular order.

    bbox: (R, 4) float32, finite, y_min x_min y_max x_max
    thresh: float32 in [0, 1]
    cap: None, or the most pairs to return: beyond it the result is None
    Returns two (P,) int64 arrays.

    Two boxes exceed an IoU only if their projections on either axis do. So the one that starts first, h high, starts
    less than (1 - thresh) * h before the other: the boxes are sorted along the axis where this leaves fewer candidates,
    and each is compared with the run of boxes behind it. In it the projections on the other axis are compared, in dense
    blocks without a gather; what is left gets its IoU exactly as `bbox_iou` computes it.
    """
    # a box without area has an IoU of 0 with every other
    index = np.flatnonzero((bbox[:, 2] > bbox[:, 0]) & (bbox[:, 3] > bbox[:, 1]))
    slack = _rounding_slack(bbox)
    runs = [_runs(bbox[index], axis, thresh, slack) for axis in (0, 1)]
    axis = int(runs[1][0] < runs[0][0])
    _, order, end = runs[axis]
    index = index[order]
    bbox = np.ascontiguousarray(bbox[index].T)
    low, high = _core(bbox[1 - axis], bbox[3 - axis], thresh, slack)
    overlapping: list[Pairs] = []
    pending: list[Pairs] = []
    n_pending = n_overlapping = start = 0
    while start < len(index):
        stop = _block_end(end, start)
        columns = slice(start + 1, int(end[start:stop].max()))
        row, column = _meeting(low, high, slice(start, stop), low, high, columns)
        # within a block, a row also meets columns before it: those pairs belong to the other row
        behind = row < column
        pending.append((row[behind], column[behind]))
        n_pending += len(row)
        start = stop
        if n_pending > _FLUSH or start == len(index):
            overlapping.append(_exceeding(bbox, bbox, _joined(pending), thresh))
            n_overlapping += len(overlapping[-1][0])
            pending, n_pending = [], 0
            if cap is not None and n_overlapping > cap:
                return None
    first, second = (index[each] for each in _joined(overlapping))
    return np.minimum(first, second), np.maximum(first, second)


def overlapped(bbox: np.ndarray, others: np.ndarray, thresh: np.float32) -> np.ndarray:
    """(R,) bool: which rows of bbox have an IoU > thresh with any of the others.

    bbox: (R, 4) float32, finite; others: (K, 4), likewise
    thresh: float32 in [0, 1]
    """
    slack = max(_rounding_slack(bbox), _rounding_slack(others))
    order = np.argsort(bbox[:, 0], kind="stable")
    bbox = np.ascontiguousarray(bbox[order].T)
    others = np.ascontiguousarray(others[np.argsort(others[:, 0], kind="stable")].T)
    height = np.maximum(others[2] - others[0], 0)
    # a box that starts before another of height h starts less than (1 - t) times its own height before; it is at most
    # h / t high, and at most as high as the highest
    before = np.minimum((bbox[2] - bbox[0]).max(initial=0), height / np.maximum(thresh, np.float32(1e-6)))
    begin = np.searchsorted(bbox[0], others[0] - before * (1 - thresh) - slack, side="left")
    end = np.searchsorted(bbox[0], others[0] + height * (1 - thresh) + slack, side="right")
    low, high = _core(bbox[1], bbox[3], thresh, slack)
    other_low, other_high = _core(others[1], others[3], thresh, slack)
    hit = np.zeros(bbox.shape[1], dtype=bool)
    start = 0
    while start < others.shape[1]:
        stop = min(start + max(_BLOCK // max(int(end[start] - begin[start]), 1024), 1), others.shape[1])
        columns = slice(int(begin[start:stop].min()), int(end[start:stop].max()))
        row, column = _meeting(other_low, other_high, slice(start, stop), low, high, columns)
        alive = ~hit[column]
        _, column = _exceeding(others, bbox, (row[alive], column[alive]), thresh)
        hit[column] = True
        start = stop
    out = np.empty_like(hit)
    out[order] = hit
    return out


def _rounding_slack(bbox: np.ndarray) -> np.float32:
    """A length longer than all the roundings of a comparison between coordinates of these boxes."""
    return np.abs(bbox).max(initial=0) * np.float32(1e-6) + _TINY_SIDE


def _runs(bbox: np.ndarray, axis: int, thresh: np.float32, slack: np.float32) -> tuple[int, np.ndarray, np.ndarray]:
    """The boxes' order along an axis, where each one's run of candidates ends in it, and the sum of these ends."""
    order = np.argsort(bbox[:, axis], kind="stable")
    low = bbox[order, axis]
    end = np.searchsorted(low, low + (bbox[order, axis + 2] - low) * (1 - thresh) + slack, side="right")
    return int(end.sum()), order, end


def _core(low: np.ndarray, high: np.ndarray, thresh: np.float32, slack: np.float32) -> Pairs:
    """The ends of the core of each projection: two whose cores are disjoint cannot exceed an IoU of thresh.

    Projections of lengths p and q, their centers d apart, exceed it only if d < (1 - t) / (1 + t) * (p + q) / 2.
    """
    middle = low * np.float32(0.5) + high * np.float32(0.5)
    reach = (high - low) * ((1 - thresh) / (1 + thresh) * np.float32(0.5)) + slack
    return middle - reach, middle + reach


def _block_end(end: np.ndarray, start: int) -> int:
    # as many rows as fit into a block with the columns that the first of them reaches; later rows reach about as far
    width = int(end[start]) - start
    return min(start + max(min(_BLOCK // width, 64 + width // 8), 1), len(end))


def _meeting(
    low: np.ndarray, high: np.ndarray, rows: slice, other_low: np.ndarray, other_high: np.ndarray, columns: slice
) -> Pairs:
    near = other_high[columns] > low[rows, None]
    near &= other_low[columns] < high[rows, None]
    flat = np.flatnonzero(near)
    row = flat // max(near.shape[1], 1)
    return row + rows.start, flat - row * near.shape[1] + columns.start


def _exceeding(bbox: np.ndarray, others: np.ndarray, pairs: Pairs, thresh: np.float32) -> Pairs:
    """Those of the pairs (column of bbox, column of others) whose IoU exceeds thresh; both arrays are (4, *)."""
    first, second = pairs
    height = np.minimum(bbox[2][first], others[2][second]) - np.maximum(bbox[0][first], others[0][second])
    near = np.flatnonzero(height > 0)
    first, second, height = first[near], second[near], height[near]
    width = np.minimum(bbox[3][first], others[3][second]) - np.maximum(bbox[1][first], others[1][second])
    inter = height * np.maximum(width, 0)
    area = (bbox[2] - bbox[0]) * (bbox[3] - bbox[1])
    other_area = (others[2] - others[0]) * (others[3] - others[1])
    union = area[first] + other_area[second] - inter
    over = np.flatnonzero(inter / union > thresh)
    return first[over], second[over]


def _joined(parts: Sequence[Pairs]) -> Pairs:
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    first, second = (np.concatenate(each) for each in zip(*parts))
    return first, second


# Up to this many boxes, all pairs at once are fastest
_FEW = 100
# Boxes of the first round, which measures how much they overlap; the fewest of any round
_HEAD = 256
# Boxes processed first per box of the limit
_WANTED = 4
# How many overlapping pairs one round should hold
_PAIRS = 100_000


def best_first(score: np.ndarray) -> np.ndarray:
    """(R,) int64: the indices of score (R,) in descending order; stable for equal scores."""
    # the last of the reversed is the best; sorting reversed keeps the earlier of equals first
    return len(score) - 1 - np.argsort(score[::-1], kind="stable")[::-1]


def kept_rows(bbox: np.ndarray, thresh: np.float32, limit: int | None) -> np.ndarray:
    """(K,) int64: which of bbox (R, 4) float32, best first, stay where each in turn removes those that overlap it.

    limit: how many stay at most, the first; None: all
    """
    return _nms_rows(bbox, thresh, limit)[:limit]


def kept_by_class(
    bbox: np.ndarray, label: np.ndarray, order: np.ndarray, thresh: np.float32, limit: int | None
) -> np.ndarray:
    """Those of `order` (R,), the rows of bbox (R, 4) from the best on, that stay where boxes remove only boxes of their
    own label (R,)."""
    # what stays depends on boxes with higher scores only: with a small limit, the worst are not processed
    count = len(order) if limit is None else max(_WANTED * limit, _HEAD)
    while True:
        first = order[:count]
        selected = _nms_by_class(bbox[first], label[first], thresh, limit)
        if limit is None or count >= len(order) or len(selected) >= limit:
            return first[selected[:limit]]
        count *= 4


def _nms_by_class(bbox: np.ndarray, label: np.ndarray, thresh: np.float32, limit: int | None) -> np.ndarray:
    """As `_nms_rows`, each class by itself."""
    by_class = np.argsort(label, kind="stable")
    groups = np.split(by_class, np.flatnonzero(np.diff(label[by_class])) + 1)
    return np.sort(np.concatenate([group[_nms_rows(bbox[group], thresh, limit)] for group in groups]))


def _nms_rows(bbox: np.ndarray, thresh: np.float32, limit: int | None) -> np.ndarray:
    """The rows that stay, ascending, of boxes that come best first; perhaps more than limit."""
    kept = kept_natively(bbox, thresh, limit)
    if kept is not None:
        return kept
    # overflow of the area of huge boxes gives an IoU of 0 or NaN, which exceeds nothing
    with np.errstate(over="ignore", invalid="ignore"):
        if len(bbox) <= _FEW:
            return np.flatnonzero(_survivors(len(bbox), *np.nonzero(np.triu(box_iou(bbox, bbox) > thresh, 1))))
        return _nms_in_rounds(bbox, thresh, len(bbox) if limit is None else limit)


def _nms_in_rounds(bbox: np.ndarray, thresh: np.float32, limit: int) -> np.ndarray:
    selected: list[np.ndarray] = []
    rest, size = np.arange(len(bbox)), _HEAD
    while len(rest) and limit > 0:
        head = rest[:size]
        pairs = overlapping_pairs(bbox[head], thresh, cap=None if size <= _HEAD else 4 * _PAIRS)
        if pairs is None:
            size = max(size // 4, _HEAD)
            continue
        head = head[_survivors(len(head), *pairs)]
        selected.append(head)
        limit -= len(head)
        rest = rest[size:]
        rest = rest[~overlapped(bbox[rest], bbox[head], thresh)]
        # pairs grow with the square of the number of boxes
        size = int(min(size * math.sqrt(_PAIRS / max(len(pairs[0]), 1)), max(4 * limit, 0)))
        size = max(size, _HEAD)
    return np.concatenate(selected) if selected else np.empty(0, np.int64)


def _survivors(n_bbox: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(R,) bool: who is left when, from the first box on, each that is left removes the second of its pairs."""
    order = np.argsort(first, kind="stable")
    alive = bytearray(b"\x01") * n_bbox
    for i, j in zip(first[order].tolist(), second[order].tolist()):
        if alive[i]:
            alive[j] = 0
    return np.frombuffer(alive, dtype=bool)
