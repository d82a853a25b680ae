"""Greedy matching of detections and objects, for all groups, thresholds and area ranges at once."""

import numpy as np

from cvzoo.evaluations.coco.lookup import places_in_runs, run_starts
from cvzoo.typing.aliases import Array


def match_pairs(
    dt: Array,
    gt: Array,
    iou: Array,
    *,
    dt_group: Array,
    crowd: Array,
    set_aside: Array,
    not_evaluable: Array | None = None,
    iou_thrs: Array,
) -> tuple[Array, Array]:
    """The detections with sufficient IoU with an object, and the outcome of matching each of them.

    dt, gt: (p,) int64, pairs of one group with an IoU of at least the lowest threshold; detections ascending
        (highest score first in a group), objects of a detection in their order
    iou: (p,) float64
    dt_group: (N,) int64
    crowd: (G,) bool, crowd regions: any number of detections may match them
    set_aside: (A, G) bool, objects that are ignored in an area range
    not_evaluable: None, or (G,) bool: a match with such an object counts as unmatched, but uses the object up
    iou_thrs: (T,) float64
    Returns candidates (C,) int64, ascending, and verdicts (T, A, C) int8 (see COCOMatches).

    The rules are pycocotools': the threshold is `min(t, 1 - 1e-10)`; a detection matches the free object of highest
    IoU, the later one of equal ones; an ignored object is matched only if no other is left.
    The r-th candidates of all groups are matched together, in as many rounds as the largest group has candidates, and
    the choice of an object is one maximum over integers.
    """
    thr = np.minimum(iou_thrs, 1 - 1e-10)
    n_area, n_gt = set_aside.shape
    start = run_starts(dt)
    candidate = dt[start]
    length = np.diff(np.append(start, dt.size))
    if length.size and length.max() > 1:
        # stable, by ascending IoU within a detection: it matches the last one of the free objects
        order = np.lexsort((iou, dt))
        gt, iou = gt[order], iou[order]
    verdict = np.zeros((thr.size, n_area, candidate.size), np.int8)
    taken = np.zeros((thr.size, n_area, n_gt), bool)
    wanted = ~set_aside
    turn = places_in_runs(dt_group[candidate])
    by_turn = np.argsort(turn, kind="stable")
    done = 0
    for n in np.bincount(turn):
        now = by_turn[done : done + n]
        done += n
        first, count = start[now], length[now]
        if count.max() == 1:  # one object each: nothing to choose
            at = gt[first]
            free = (iou[first] >= thr[:, None])[:, None, :] & ~(taken[:, :, at] & ~crowd[at])
            hit = np.int8(1) if not_evaluable is None else np.where(not_evaluable[at], np.int8(0), np.int8(1))
            verdict[:, :, now] = np.where(free, np.where(wanted[:, at], hit, np.int8(2)), np.int8(0))
            taken[:, :, at] |= free
            continue
        begin = np.cumsum(count) - count
        pair = np.repeat(first - begin, count) + np.arange(begin[-1] + count[-1])
        at = gt[pair]
        free = (iou[pair] >= thr[:, None])[:, None, :] & ~(taken[:, :, at] & ~crowd[at])
        size = pair.size
        # one integer per pair, of which the maximum is the choice: its position, as pairs ascend by IoU, plus `size` if
        # the object is not ignored, which has priority over IoU; 0 if the object is taken or the IoU too low
        worth = np.arange(1, size + 1, dtype=np.int32) + np.where(wanted[:, at], np.int32(size), np.int32(0))
        best = np.maximum.reduceat(worth * free, begin, axis=2)  # 0: none is free
        verdict[:, :, now] = np.where(best > size, np.int8(1), np.where(best > 0, np.int8(2), np.int8(0)))
        # flat: np.nonzero of several axes is slow
        hit = np.flatnonzero(best != 0)
        cell, which = np.divmod(hit, n)
        t, a = np.divmod(cell, n_area)
        best = best.reshape(-1)[hit] - 1
        chosen = at[np.where(best >= size, best - size, best)]
        taken[t, a, chosen] = True
        if not_evaluable is not None:
            lost = not_evaluable[chosen] & wanted[a, chosen]
            verdict[t[lost], a[lost], now[which[lost]]] = 0
    return candidate, verdict
