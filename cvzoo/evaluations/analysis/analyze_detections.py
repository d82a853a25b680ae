"""Error analysis of a detector, as one dictionary for JSON and for the report."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.evaluations.analysis.detection_confusion import calc_detection_confusion
from cvzoo.evaluations.analysis.detection_table import DetectionTable
from cvzoo.evaluations.analysis.error_types import ERRORS, ErrorTypes, calc_error_types
from cvzoo.evaluations.analysis.match_detections import match_detections
from cvzoo.evaluations.analysis.pr_curves import PRCurve, calc_pr_curves
from cvzoo.evaluations.analysis.reliability import reliability_record
from cvzoo.evaluations.analysis.score_thresholds import ScoreThresholds, calc_score_thresholds
from cvzoo.evaluations.analysis.worst_images import ImageErrors, list_worst_images
from cvzoo.typing.aliases import Array, ArrayLike, LabelNames

_RECALLS = np.linspace(0.0, 1.0, 101)


def analyze_detections(
    pred_bboxes: Iterable[ArrayLike],
    pred_labels: Iterable[ArrayLike],
    pred_scores: Iterable[ArrayLike],
    gt_bboxes: Iterable[ArrayLike],
    gt_labels: Iterable[ArrayLike],
    *,
    label_names: LabelNames,
    images: Sequence[str] = (),
    gt_difficults: Iterable[ArrayLike] | None = None,
    gt_crowdeds: Iterable[ArrayLike] | None = None,
    iou_thresh: float = 0.5,
    wished_precision: float = 0.9,
    n_worst: int = 12,
    photos: Sequence[str] | None = None,
) -> dict:
    """Error analysis of a detector, in numbers, str, lists and dictionaries only.

    pred_bboxes ... gt_labels, gt_difficults, gt_crowdeds: lists with one array per image, as for
        `DetectionTable.of_bboxes`; boxes half-open
    label_names: names of the classes; images: names of the images, formerly `photos`
    iou_thresh: overlaps of it and above find an object; wished_precision: see `thresholds`
    n_worst: number of images to list
    Returns
      pr_curves: recall (101), mean {overlap: precision}, classes [{label, precision}]
      thresholds: wished_precision, classes [{label, f1, f1_score, f1_precision, f1_recall, wished_score,
        wished_recall}]
      errors: ap, types [{type, count, dap}], dap_fp, dap_fn, iou_thresh, after TIDE
      confusion: names, counts (rows: objects, columns: detections; last: background), of detections from the score of
        the best F1 of their class on
      reliability: ece, bins [{low, high, count, confidence, precision}]; None if scores are not in [0, 1]
      worst_photos: see `list_worst_images`
    Undefined values are None.
    Raises ShapeError if the numbers of images differ, and the errors of `DetectionTable.of_bboxes`.
    """
    pred_bboxes, gt_bboxes = list(pred_bboxes), list(gt_bboxes)
    table = DetectionTable.of_bboxes(
        pred_bboxes, pred_labels, pred_scores, gt_bboxes, gt_labels,
        gt_difficults=gt_difficults, gt_crowdeds=gt_crowdeds, n_fg_class=len(label_names),
    )  # fmt: skip
    return analyze_table(
        table, pred_bboxes, gt_bboxes, label_names=label_names, images=images if photos is None else photos,
        iou_thresh=iou_thresh, wished_precision=wished_precision, n_worst=n_worst,
    )  # fmt: skip


def analyze_table(
    table: DetectionTable,
    pred_bboxes: Sequence[ArrayLike],
    gt_bboxes: Sequence[ArrayLike],
    *,
    label_names: LabelNames,
    images: Sequence[str],
    iou_thresh: float = 0.5,
    wished_precision: float = 0.9,
    n_worst: int = 12,
) -> dict:
    """As `analyze_detections`, from a table of boxes or of masks; the boxes are only for drawing."""
    if not len(images) == len(pred_bboxes) == len(gt_bboxes):
        raise ShapeError("`images` must have one name per image", expected=len(pred_bboxes), got=len(images))
    match, matched = match_detections(table, iou_thresh=iou_thresh)
    curves = calc_pr_curves(table.pred_score, table.pred_label, match, table.n_positive)
    best, wished = calc_score_thresholds(curves), calc_score_thresholds(curves, precision=wished_precision)
    # a class without true positives has no best threshold: all of its detections are left out
    least = np.where(np.isnan(best.threshold), np.inf, best.threshold)
    errors = calc_error_types(table, iou_thresh=iou_thresh)
    worst = list_worst_images(
        ImageErrors(table, match, matched, errors.error, least, n_image=len(images)),
        bboxes=(pred_bboxes, gt_bboxes),
        label_names=label_names,
        images=images,
        n_worst=n_worst,
    )
    return {
        "iou_thresh": float(iou_thresh),
        "pr_curves": _curves(curves, label_names, iou_thresh),
        "thresholds": {
            "wished_precision": float(wished_precision),
            "classes": [_thresholds(l, name, best, wished) for l, name in enumerate(label_names)],
        },
        "errors": _errors(errors, iou_thresh),
        "confusion": {
            "names": [*label_names, "background"],
            "counts": calc_detection_confusion(table, score_thresh=least, iou_thresh=iou_thresh).tolist(),
            "score_thresh": [_number(value) for value in best.threshold],
            "iou_thresh": float(iou_thresh),
        },
        "reliability": _reliability(table.pred_score[match >= 0], match[match >= 0] == 1, iou_thresh),
        "worst_photos": worst,
    }


def _curves(curves: Sequence[PRCurve], label_names: LabelNames, iou_thresh: float) -> dict[str, Any]:
    classes = []
    for name, curve in zip(label_names, curves):
        if curve.n_positive:
            envelope = np.append(np.maximum.accumulate(curve.precision[::-1])[::-1], 0.0)
            precision = envelope[np.searchsorted(curve.recall, _RECALLS, side="left")]
            classes.append({"label": name, "precision": precision.round(6).tolist()})
    mean = np.mean([each["precision"] for each in classes], axis=0).round(6).tolist() if classes else None
    return {
        "recall": _RECALLS.round(6).tolist(),
        "mean": {} if mean is None else {f"{iou_thresh:.2f}": mean},
        "classes": classes,
    }


def _thresholds(l: int, name: str, best: ScoreThresholds, wished: ScoreThresholds) -> dict[str, Any]:
    return {
        "label": name,
        "f1": _number(best.f1[l]),
        "f1_score": _number(best.threshold[l]),
        "f1_precision": _number(best.precision[l]),
        "f1_recall": _number(best.recall[l]),
        "wished_score": _number(wished.threshold[l]),
        "wished_recall": _number(wished.recall[l]),
    }


def _errors(errors: ErrorTypes, iou_thresh: float) -> dict[str, Any]:
    return {
        "iou_thresh": float(iou_thresh),
        "ap": _number(errors.ap),
        "types": [
            {"type": kind, "count": errors.counts[kind], "dap": _number(errors.d_ap[kind])}
            for kind in (*ERRORS, "missed")
        ],
        "dap_fp": _number(errors.d_ap["false_positive"]),
        "dap_fn": _number(errors.d_ap["false_negative"]),
    }


def _reliability(score: Array, correct: Array, iou_thresh: float) -> dict[str, Any] | None:
    record = reliability_record(score, correct)
    return None if record is None else {"iou_thresh": float(iou_thresh), **record}


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
