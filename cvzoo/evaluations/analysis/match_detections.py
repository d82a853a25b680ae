"""Matching of detections and objects at one IoU threshold."""

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.analysis.detection_table import LEAST_OVERLAP, DetectionTable
from cvzoo.typing.aliases import Array


def match_detections(table: DetectionTable, *, iou_thresh: float = 0.5) -> tuple[Array, Array]:
    """The object of its class that each detection matches: match (D,) int8 and found (D,) int64.

    iou_thresh: overlaps of at least this count
    match is 1 for a true positive, 0 for a false positive, -1 for a detection that only overlaps an ignored object;
    found is the row of the object of a true positive, else -1.
    COCO's rule: by descending score, each detection matches the free object of highest IoU. Equal scores and equal IoU
    keep their order.
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
    matched = first_come(pred[order[~ignored[order]]], gt[order[~ignored[order]]], len(match), len(table.gt_label))
    match[matched >= 0] = 1
    return match, matched


def first_come(pred: Array, gt: Array, n_pred: int, n_gt: int) -> Array:
    """(n_pred,) int64, the match of each row of pred, -1 for none: each pair in turn is matched if both are free."""
    partner, taken = [-1] * n_pred, [False] * n_gt
    for a, b in zip(pred.tolist(), gt.tolist()):
        if partner[a] < 0 and not taken[b]:
            partner[a] = b
            taken[b] = True
    return np.array(partner, np.int64)


def check_iou_thresh(iou_thresh: float) -> None:
    """Raises ValueRangeError unless the threshold is in the range of the IoU of a table's pairs."""
    if not LEAST_OVERLAP <= iou_thresh <= 1:
        raise ValueRangeError(f"iou_thresh must be {LEAST_OVERLAP} or more and at most 1", got=iou_thresh)
