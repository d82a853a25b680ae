"""Known differences between implementations of VOC's metric, each as a change of the evaluation."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cvzoo.evaluations.voc.eval_detection_voc import eval_detection_voc
from cvzoo.typing.aliases import Array


class VOCCase(NamedTuple):
    """Boxes of a data set and the settings they are scored with; see `eval_detection_voc`."""

    pred_bboxes: list[Array]
    pred_labels: list[Array]
    pred_scores: list[Array]
    gt_bboxes: list[Array]
    gt_labels: list[Array]
    gt_difficults: list[Array] | None
    iou_thresh: float = 0.5
    use_07_metric: bool = False
    plus: int = 1

    def score(self) -> dict[str, float]:
        """{"map": mAP}; -1 without any object."""
        result = eval_detection_voc(
            *self[:6], iou_thresh=self.iou_thresh, use_07_metric=self.use_07_metric, plus=self.plus
        )["map"]
        return {"map": -1.0 if np.isnan(result) else float(result)}


class VOCRule(NamedTuple):
    """A rule: its name, what the other program does if the rule applies, and the case under the rule."""

    name: str
    words: str
    apply: Callable[[VOCCase], VOCCase]


def voc_rules(case: VOCCase) -> tuple[VOCRule, ...]:
    """All rules by which another program may differ from this case, the likely ones first."""
    area, points = "AP is the area under the curve", "AP is the mean at 11 recalls, as until 2009"
    return (
        VOCRule("use_07_metric", area if case.use_07_metric else points, _other_metric),
        VOCRule("plus", f"boxes {'do not ' if case.plus else ''}count their last pixel", _other_plus),
        VOCRule("difficult_as_objects", "difficult objects are objects like others", _difficult_as_objects),
        VOCRule(
            "difficult_dropped", "difficult objects are left out, so detections on them are false positives", _dropped
        ),
        VOCRule("above_threshold", "an IoU equal to the threshold does not match", _above_threshold),
        VOCRule("ties_reversed", "of equal scores the last detection goes first", _ties_reversed),
        VOCRule("whole_pixels", "detected boxes are rounded to whole pixels", _whole_pixels),
        *(_score_above(t) for t in (0.001, 0.01, 0.05, 0.1, 0.25, 0.3, 0.5)),
    )


def _other_metric(case: VOCCase) -> VOCCase:
    return case._replace(use_07_metric=not case.use_07_metric)


def _other_plus(case: VOCCase) -> VOCCase:
    return case._replace(plus=1 - case.plus)


def _difficult_as_objects(case: VOCCase) -> VOCCase:
    return case._replace(gt_difficults=None)


def _dropped(case: VOCCase) -> VOCCase:
    if case.gt_difficults is None:
        return case
    kept = [~np.asarray(each) for each in case.gt_difficults]
    return case._replace(
        gt_bboxes=[bbox[keep] for bbox, keep in zip(case.gt_bboxes, kept)],
        gt_labels=[label[keep] for label, keep in zip(case.gt_labels, kept)],
        gt_difficults=None,
    )


def _above_threshold(case: VOCCase) -> VOCCase:
    return case._replace(iou_thresh=float(np.nextafter(case.iou_thresh, 1.0)))


def _ties_reversed(case: VOCCase) -> VOCCase:
    # ties between images are broken by their order, so it is reversed as well
    return case._replace(
        pred_bboxes=[each[::-1] for each in case.pred_bboxes[::-1]],
        pred_labels=[each[::-1] for each in case.pred_labels[::-1]],
        pred_scores=[each[::-1] for each in case.pred_scores[::-1]],
        gt_bboxes=case.gt_bboxes[::-1],
        gt_labels=case.gt_labels[::-1],
        gt_difficults=None if case.gt_difficults is None else case.gt_difficults[::-1],
    )


def _whole_pixels(case: VOCCase) -> VOCCase:
    return case._replace(pred_bboxes=[np.round(bbox) for bbox in case.pred_bboxes])


def _score_above(thresh: float) -> VOCRule:
    def apply(case: VOCCase) -> VOCCase:
        kept = [np.asarray(score) >= thresh for score in case.pred_scores]
        return case._replace(
            pred_bboxes=[each[keep] for each, keep in zip(case.pred_bboxes, kept)],
            pred_labels=[each[keep] for each, keep in zip(case.pred_labels, kept)],
            pred_scores=[each[keep] for each, keep in zip(case.pred_scores, kept)],
        )

    return VOCRule(f"score_{thresh}", f"detections that score less than {thresh} are dropped", apply)
