"""All pairs of boxes whose IoU exceeds a threshold, found without looking at every pair."""

import numpy as np

# Elements of one dense block of comparisons: its few temporaries stay in a level-2 cache
_BLOCK = 1 << 17
# Candidates whose IoU is computed in one go
_FLUSH = 1 << 16
# The area of a box below this side may lose digits to underflow: such boxes are always compared exactly
_TINY_SIDE = np.float32(1e-15)


def overlapping_pairs(bbox, thresh, *, cap=None):
    """Every pair (first, second) of rows of bbox with first < second and IoU > thresh, in no particular order.

    bbox: (R, 4) float32, finite, y_min x_min y_max x_max
    thresh: float32 in [0, 1]
    cap: None, or how many pairs are too many: beyond it the answer is None
    Returns two (P,) int64 arrays.

    Two boxes exceed an IoU only if their shadows on either axis do. So the one that starts first, h high, starts less
    than (1 - thresh) * h before the other: the boxes are sorted along the axis where this leaves fewer candidates, and
    each is compared with the run of boxes behind it. There the shadows on the other axis are compared, in dense blocks
    without a gather; what is left gets its IoU exactly as `bbox_iou` computes it.
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
    found, waiting, n_waiting, n_found, start = [], [], 0, 0, 0
    while start < len(index):
        stop = _block_end(end, start)
        columns = slice(start + 1, int(end[start:stop].max()))
        row, column = _meeting(low, high, slice(start, stop), low, high, columns)
        # within a block, a row also meets columns before it: those pairs belong to the other row
        behind = row < column
        waiting.append((row[behind], column[behind]))
        n_waiting += len(row)
        start = stop
        if n_waiting > _FLUSH or start == len(index):
            found.append(_exceeding(bbox, bbox, *_joined(waiting), thresh))
            n_found += len(found[-1][0])
            waiting, n_waiting = [], 0
            if cap is not None and n_found > cap:
                return None
    first, second = (index[each] for each in _joined(found))
    return np.minimum(first, second), np.maximum(first, second)


def overlapped(bbox, others, thresh):
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
        _, column = _exceeding(others, bbox, row[alive], column[alive], thresh)
        hit[column] = True
        start = stop
    out = np.empty_like(hit)
    out[order] = hit
    return out


def _rounding_slack(bbox):
    """A length longer than all the roundings of a comparison between coordinates of these boxes."""
    return np.abs(bbox).max(initial=0) * np.float32(1e-6) + _TINY_SIDE


def _runs(bbox, axis, thresh, slack):
    """The boxes' order along an axis, where each one's run of candidates ends in it, and the sum of these ends."""
    order = np.argsort(bbox[:, axis], kind="stable")
    low = bbox[order, axis]
    end = np.searchsorted(low, low + (bbox[order, axis + 2] - low) * (1 - thresh) + slack, side="right")
    return int(end.sum()), order, end


def _core(low, high, thresh, slack):
    """The ends of the core of each shadow: two shadows whose cores do not meet cannot exceed an IoU of thresh.

    Shadows p and q long, their middles d apart, exceed it only if d < (1 - t) / (1 + t) * (p + q) / 2.
    """
    middle = low * np.float32(0.5) + high * np.float32(0.5)
    reach = (high - low) * ((1 - thresh) / (1 + thresh) * np.float32(0.5)) + slack
    return middle - reach, middle + reach


def _block_end(end, start):
    # as many rows as fit into a block with the columns that the first of them reaches; later rows reach about as far
    width = int(end[start]) - start
    return min(start + max(min(_BLOCK // width, 64 + width // 8), 1), len(end))


def _meeting(low, high, rows, other_low, other_high, columns):
    near = other_high[columns] > low[rows, None]
    near &= other_low[columns] < high[rows, None]
    flat = np.flatnonzero(near)
    row = flat // max(near.shape[1], 1)
    return row + rows.start, flat - row * near.shape[1] + columns.start


def _exceeding(bbox, others, first, second, thresh):
    """Those of the pairs (column of bbox, column of others) whose IoU exceeds thresh; both arrays are (4, *)."""
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


def _joined(parts):
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return tuple(np.concatenate(each) for each in zip(*parts))
