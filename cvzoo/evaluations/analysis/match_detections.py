"""Which detection finds which object, at one overlap."""

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.analysis.detection_table import LEAST_OVERLAP, DetectionTable


def match_detections(table: DetectionTable, *, iou_thresh=0.5):
    """Which object of its class each detection finds: match (D,) int8 and found (D,) int64.

    iou_thresh: overlaps of it and above count
    match is 1 for a right detection, 0 for a wrong one, -1 for one that only met an ignored object; found is the row
    of the object of a right one, else -1.
    The surest detection chooses first, of the objects that are still free the one it overlaps most; COCO's rule.
    Equal scores and equal overlaps keep the order in which they came.
    """
    check_iou_thresh(iou_thresh)
    near = np.flatnonzero(
        (table.pair_iou >= iou_thresh) & (table.pred_label[table.pair_pred] == table.gt_label[table.pair_gt])
    )
    pred, gt = table.pair_pred[near], table.pair_gt[near]
    ignored = table.gt_ignored[gt]
    match = np.zeros(len(table.pred_label), np.int8)
    match[pred[ignored]] = -1
    order = np.lexsort((gt, -table.pair_iou[near], pred, -table.pred_score[pred]))
    found = first_come(pred[order[~ignored[order]]], gt[order[~ignored[order]]], len(match), len(table.gt_label))
    match[found >= 0] = 1
    return match, found


def first_come(pred, gt, n_pred, n_gt):
    """(n_pred,) int64, the partner of each row of pred, -1 for none: each pair in turn joins if both are free."""
    partner, taken = [-1] * n_pred, [False] * n_gt
    for a, b in zip(pred.tolist(), gt.tolist()):
        if partner[a] < 0 and not taken[b]:
            partner[a] = b
            taken[b] = True
    return np.array(partner, np.int64)


def check_iou_thresh(iou_thresh):
    """Raises ValueRangeError unless the threshold is one that a table's pairs can answer for."""
    if not LEAST_OVERLAP <= iou_thresh <= 1:
        raise ValueRangeError(f"iou_thresh must be {LEAST_OVERLAP} or more and at most 1", got=iou_thresh)
