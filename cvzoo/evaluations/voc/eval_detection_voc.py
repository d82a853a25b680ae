"""Pascal VOC's evaluation of object detection."""

from collections.abc import Iterable
from typing import Any

from cvzoo.evaluations.voc.accumulators import DetectionVOCAccumulator
from cvzoo.evaluations.voc.average_precision import VOC07_RECALLS, Curves
from cvzoo.typing.aliases import ArrayLike


def eval_detection_voc(
    pred_bboxes: Iterable[ArrayLike],
    pred_labels: Iterable[ArrayLike],
    pred_scores: Iterable[ArrayLike],
    gt_bboxes: Iterable[ArrayLike],
    gt_labels: Iterable[ArrayLike],
    gt_difficults: Iterable[ArrayLike] | None = None,
    iou_thresh: float = 0.5,
    use_07_metric: bool = False,
    *,
    plus: int = 1,
    n_fg_class: int | None = None,
    recalls: ArrayLike = VOC07_RECALLS,
) -> dict[str, Any]:
    """VOC's average precision of boxes: {'ap': (L,) float64 by class, NaN for a class without objects, 'map': mean}.

    The first six are iterables of one array per image:
    pred_bboxes: (R, 4), y_min x_min y_max x_max, pixels; pred_labels: (R,) int; pred_scores: (R,) float
    gt_bboxes: (R, 4), likewise; gt_labels: (R,) int; gt_difficults: (R,) bool, None if no object is difficult
    iou_thresh: overlaps of at least this count
    use_07_metric: the mean over eleven recalls of VOC 2007 instead of the area under the curve
    plus: 1, boxes include their last row and column of pixels, as in the devkit; 0, boxes are continuous
    n_fg_class: number of classes; None: up to the highest label
    recalls: the recalls of the 2007 metric
    Raises ShapeError, DtypeError or ValueRangeError with the image's index for malformed input.

    Source: The Pascal Visual Object Classes Challenge (Everingham et al., 2010) and the devkit's VOCevaldet. Where
    ChainerCV differs: its order of equal scores is arbitrary; here they keep their order.
    """
    accumulator = DetectionVOCAccumulator(iou_thresh=iou_thresh, plus=plus, n_fg_class=n_fg_class)
    accumulator.update(pred_bboxes, pred_labels, pred_scores, gt_bboxes, gt_labels, gt_difficults)
    return accumulator.compute(use_07_metric=use_07_metric, recalls=recalls).to_dict()


def calc_detection_voc_prec_rec(
    pred_bboxes: Iterable[ArrayLike],
    pred_labels: Iterable[ArrayLike],
    pred_scores: Iterable[ArrayLike],
    gt_bboxes: Iterable[ArrayLike],
    gt_labels: Iterable[ArrayLike],
    gt_difficults: Iterable[ArrayLike] | None = None,
    iou_thresh: float = 0.5,
    *,
    plus: int = 1,
) -> tuple[Curves, Curves]:
    """Precision and recall of each class after each detection, by descending score: two lists of L arrays.

    The arguments are those of `eval_detection_voc`. rec is None for a class without objects that count, and prec for a
    class that has no detections either; precision is NaN as long as only difficult objects were detected.
    """
    accumulator = DetectionVOCAccumulator(iou_thresh=iou_thresh, plus=plus)
    accumulator.update(pred_bboxes, pred_labels, pred_scores, gt_bboxes, gt_labels, gt_difficults)
    result = accumulator.compute()
    return result.prec, result.rec
