"""Confusion matrix of a detector."""

import numpy as np

from cvzoo.evaluations.analysis.detection_table import DetectionTable
from cvzoo.evaluations.analysis.match_detections import check_iou_thresh, first_come, match_detections
from cvzoo.typing.aliases import Array, ArrayLike


def calc_detection_confusion(
    table: DetectionTable, *, score_thresh: ArrayLike = 0.25, iou_thresh: float = 0.5
) -> Array:
    """Confusion matrix, (L + 1, L + 1) int64: objects of class i (row) that were detected as class j (column).

    score_thresh: detections of it and above are looked at; one number or (L,), a number a class
    iou_thresh: overlaps of at least this count
    The last column counts missed objects, the last row detections on background. Objects are first matched to
    detections of their own class (see `match_detections`); the rest is matched across classes, by descending IoU.
    Unmatched detections that overlap an ignored object are not counted.
    """
    check_iou_thresh(iou_thresh)
    n = table.n_fg_class
    match, partner = match_detections(table, iou_thresh=iou_thresh)
    least = np.broadcast_to(np.asarray(score_thresh, np.float64), (n,)) if n else np.empty(0)
    looked = table.pred_score >= least[table.pred_label]
    # detections are matched by descending score, so dropping those below a threshold does not change other matches
    partner[~looked] = -1
    free = np.ones(len(table.gt_label), bool)
    free[partner[partner >= 0]] = False
    a, b = table.pair_pred, table.pair_gt
    near = np.flatnonzero((table.pair_iou >= iou_thresh) & looked[a] & (match[a] == 0) & free[b] & ~table.gt_ignored[b])
    order = near[np.lexsort((-table.pred_score[a[near]], -table.pair_iou[near]))]
    other = first_come(a[order], b[order], len(match), len(table.gt_label))
    partner = np.where(partner >= 0, partner, other)
    seen = np.flatnonzero(looked & (match >= 0))
    true = np.where(partner >= 0, table.gt_label[partner] if len(table.gt_label) else 0, n)
    missed = ~table.gt_ignored
    missed[partner[partner >= 0]] = False
    cells = np.concatenate([true[seen] * (n + 1) + table.pred_label[seen], table.gt_label[missed] * (n + 1) + n])
    return np.bincount(cells, minlength=(n + 1) ** 2).reshape(n + 1, n + 1)
