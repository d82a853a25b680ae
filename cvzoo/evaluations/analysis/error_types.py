"""Error types of a detector and their cost in AP, after TIDE."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.analysis.detection_table import LEAST_OVERLAP, DetectionTable
from cvzoo.evaluations.analysis.match_detections import match_detections
from cvzoo.evaluations.analysis.pr_curves import calc_pr_curves
from cvzoo.typing.aliases import Array

# Their places are the codes of ErrorTypes.error
ERRORS = ("classification", "localization", "both", "duplicate", "background")


@dataclasses.dataclass(frozen=True, eq=False)
class ErrorTypes:
    """The errors of a detector, and the gain of AP without each type of error.

    ap: float, mean AP at the IoU threshold, at COCO's 101 recalls, over classes with objects
    error: (D,) int8, the place of each wrong detection's kind in ERRORS; -1 for one that is no error
    target: (D,) int64, the row of the object that a classification or localization error meant; else -1
    missed: (G,) bool, objects without a matching detection of any error type
    counts: number of errors by type, with 'missed'
    d_ap: gain of AP by type if the errors of this type alone were fixed, with 'missed', and 'false_positive' and
        'false_negative' for all false positives dropped and all missed objects removed
    """

    ap: float
    error: Array
    target: Array
    missed: Array
    counts: dict[str, int]
    d_ap: dict[str, float]


def calc_error_types(table: DetectionTable, *, iou_thresh: float = 0.5, background_thresh: float = 0.1) -> ErrorTypes:
    """The errors of a detector after TIDE.

    iou_thresh: IoU threshold of a match; background_thresh: IoU threshold of background
    A false positive has the first error type that applies:
    localization: IoU of background_thresh or more with an object of its class, and none of iou_thresh
    classification: IoU of iou_thresh or more with an object of another class
    duplicate: IoU of iou_thresh or more with an object of its class that a detection of higher score matches
    background: no IoU of background_thresh or more
    both: the rest, insufficient IoU with an object of another class
    Fixing a localization or classification error turns it into a true positive if its object is not matched and is not
    the target of an error of higher score, else drops it; other errors are dropped; missed objects are removed.
    Raises ValueRangeError unless 0.1 <= background_thresh <= iou_thresh <= 1.

    Source: TIDE: A General Toolbox for Identifying Object Detection Errors (Bolya et al., 2020). Where we differ: the
    mean is over classes with objects, as COCO's; detections that overlap only an ignored object are left out; all
    detections of an image count, not only the 100 of highest score.
    """
    if not LEAST_OVERLAP <= background_thresh <= iou_thresh <= 1:
        raise ValueRangeError(
            f"thresholds must ascend from {LEAST_OVERLAP} to 1", got=(LEAST_OVERLAP, background_thresh, iou_thresh, 1)
        )
    match, matched = match_detections(table, iou_thresh=iou_thresh)
    error, target = _kinds(table, match, iou_thresh, background_thresh)
    free = ~table.gt_ignored
    free[matched[matched >= 0]] = False
    missed = free.copy()
    missed[target[target >= 0]] = False
    counts = {kind: int((error == code).sum()) for code, kind in enumerate(ERRORS)} | {"missed": int(missed.sum())}
    n_positive, label = table.n_positive, table.pred_label
    ap = _mean_ap(table.pred_score, label, match, n_positive)
    d_ap = {}
    for code, kind in enumerate(ERRORS):
        fixed_label, fixed_match = label.copy(), match.copy()
        fixed_match[error == code] = -1
        if kind in ("localization", "classification"):
            rows = np.flatnonzero(error == code)
            good = _highest_scoring(table.pred_score, rows[free[target[rows]]], target)
            fixed_label[good], fixed_match[good] = table.gt_label[target[good]], 1
        d_ap[kind] = _mean_ap(table.pred_score, fixed_label, fixed_match, n_positive) - ap
    fewer = n_positive - np.bincount(table.gt_label[missed], minlength=table.n_fg_class)
    d_ap["missed"] = _mean_ap(table.pred_score, label, match, fewer) - ap
    d_ap["false_positive"] = _mean_ap(table.pred_score, label, np.where(match == 0, -1, match), n_positive) - ap
    n_found = np.bincount(label[match == 1], minlength=table.n_fg_class)
    d_ap["false_negative"] = _mean_ap(table.pred_score, label, match, n_found) - ap
    return ErrorTypes(ap, error, target, missed, counts, d_ap)


def _kinds(table: DetectionTable, match: Array, iou_thresh: float, background_thresh: float) -> tuple[Array, Array]:
    a, b = table.pair_pred, table.pair_gt
    counts = (match[a] == 0) & ~table.gt_ignored[b]
    a, b, iou = a[counts], b[counts], table.pair_iou[counts]
    same = table.pred_label[a] == table.gt_label[b]
    own, own_gt = _most(a[same], b[same], iou[same], len(match))
    other, other_gt = _most(a[~same], b[~same], iou[~same], len(match))
    kinds = {
        "localization": (own >= background_thresh) & (own < iou_thresh),
        "classification": other >= iou_thresh,
        "duplicate": own >= iou_thresh,
        "background": np.maximum(own, other) < background_thresh,
        "both": np.ones(len(match), bool),
    }
    error = np.full(len(match), -1, np.int8)
    for kind, holds in kinds.items():
        error[(match == 0) & (error < 0) & holds] = ERRORS.index(kind)
    target = np.full(len(match), -1)
    for kind, gt in (("localization", own_gt), ("classification", other_gt)):
        of_kind = error == ERRORS.index(kind)
        target[of_kind] = gt[of_kind]
    return error, target


def _most(pred: Array, gt: Array, iou: Array, n: int) -> tuple[Array, Array]:
    """(n,) float64 and (n,) int64: the largest overlap of each row of pred, 0 for none, and its object, -1 for none."""
    order = np.lexsort((-gt, iou))  # of equal overlaps the first object is written last
    most, which = np.zeros(n), np.full(n, -1)
    most[pred[order]], which[pred[order]] = iou[order], gt[order]
    return most, which


def _highest_scoring(score: Array, rows: Array, target: Array) -> Array:
    """Those of the rows that are the highest-scoring of all that mean their object."""
    rows = rows[np.argsort(-score[rows], kind="stable")]
    return rows[np.unique(target[rows], return_index=True)[1]]


def _mean_ap(score: Array, label: Array, match: Array, n_positive: Array) -> float:
    ap = [curve.ap for curve in calc_pr_curves(score, label, match, n_positive) if curve.n_positive]
    return float(np.mean(ap)) if ap else float("nan")
