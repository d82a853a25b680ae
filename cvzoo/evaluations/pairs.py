"""Pairs of detections and ground-truth objects, and the IoU of their boxes."""

from collections.abc import Iterator

import numpy as np

from cvzoo.typing.aliases import Array

# Pairs per block, which limits the temporary memory
_BLOCK = 1 << 19


def pairs_within_groups(pred_group: Array, gt_group: Array) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Every pair of a detection and an object of one group, in blocks that bound the memory.

    pred_group: (N,) int; gt_group: (G,) int
    Yields (rows, first, pred, gt): rows (r,) int64, the detections of the block that have objects; pred, gt (p,)
    int64, the pairs, by detection, then by object; first (r,) int64, the index of the first pair of each row.
    """
    order = np.argsort(gt_group, kind="stable")
    gt_group = gt_group[order]
    low = np.searchsorted(gt_group, pred_group, side="left")
    n = np.searchsorted(gt_group, pred_group, side="right") - low
    some = np.flatnonzero(n)
    total = np.concatenate([[0], np.cumsum(n[some])])
    begin = 0
    while begin < len(some):
        end = max(int(np.searchsorted(total, total[begin] + _BLOCK, side="right")) - 1, begin + 1)
        rows, length = some[begin:end], n[some[begin:end]]
        first = total[begin:end] - total[begin]
        gt = order[np.arange(total[end] - total[begin]) + np.repeat(low[rows] - first, length)]
        yield rows, first, np.repeat(rows, length), gt
        begin = end


def bbox_overlaps(pred: Array, gt: Array, a: Array, b: Array, *, plus: int = 0, crowd: Array | None = None) -> Array:
    """(p,) float64, intersection over union of the boxes pred[a] and gt[b].

    pred, gt: (N, 4), (G, 4) float64, y_min x_min y_max x_max
    plus: 1 if boxes include their last row and column of pixels (VOC), 0 if boxes are continuous
    crowd: (G,) bool, crowd regions, where the denominator is the detection's area; None for none
    """
    # first the detection's area, then the object's, in float64: the rounding at thresholds is that of VOC's devkit
    height, width = (
        np.minimum(pred[a, axis + 2], gt[b, axis + 2]) - np.maximum(pred[a, axis], gt[b, axis]) + plus
        for axis in (0, 1)
    )
    pred_area, gt_area = ((bbox[:, 3] - bbox[:, 1] + plus) * (bbox[:, 2] - bbox[:, 0] + plus) for bbox in (pred, gt))
    inter = np.where((height > 0) & (width > 0), width * height, 0)
    union = pred_area[a] + gt_area[b] - inter
    if crowd is not None:
        union = np.where(crowd[b], pred_area[a], union)
    return np.divide(inter, union, out=np.zeros(len(a)), where=inter > 0)
