"""Average precision of boxes after Pascal VOC."""

from cvzoo.evaluations.voc.accumulators import DetectionVOCAccumulator
from cvzoo.evaluations.voc.average_precision import VOC07_RECALLS


def eval_detection_voc(
    pred_bboxes,
    pred_labels,
    pred_scores,
    gt_bboxes,
    gt_labels,
    gt_difficults=None,
    iou_thresh=0.5,
    use_07_metric=False,
    *,
    plus=1,
    n_fg_class=None,
    recalls=VOC07_RECALLS,
):
    """{'ap': (L,) float64, 'map': its mean}: average precision of each class, NaN where there is no object to find.

    The first six are iterables of one array a photo:
    pred_bboxes: (R, 4), y_min x_min y_max x_max, pixels; pred_labels: (R,) int; pred_scores: (R,) float
    gt_bboxes: (R, 4), likewise; gt_labels: (R,) int; gt_difficults: (R,) bool, None if no object is difficult
    iou_thresh: overlaps of it and above count
    use_07_metric: the mean over eleven recalls of VOC 2007 instead of the area under the curve
    plus: 1, a box holds the pixels of its far borders, as the devkit counts; 0, boxes are continuous
    n_fg_class: how many classes there are; None: up to the highest one seen
    recalls: the recalls of the 2007 metric
    Raises ShapeError, DtypeError or ValueRangeError with the photo's index on input that makes no sense.

    Source: The Pascal Visual Object Classes Challenge (Everingham et al., 2010) and the devkit's VOCevaldet. Where
    ChainerCV differs: its order of equal scores is arbitrary; here they keep the order in which they came.
    """
    accumulator = DetectionVOCAccumulator(iou_thresh=iou_thresh, plus=plus, n_fg_class=n_fg_class)
    accumulator.update(pred_bboxes, pred_labels, pred_scores, gt_bboxes, gt_labels, gt_difficults)
    return accumulator.compute(use_07_metric=use_07_metric, recalls=recalls).to_dict()


def calc_detection_voc_prec_rec(
    pred_bboxes, pred_labels, pred_scores, gt_bboxes, gt_labels, gt_difficults=None, iou_thresh=0.5, *, plus=1
):
    """Precision and recall of each class after each detection, surest first: two lists of L arrays, prec and rec.

    The arguments are those of `eval_detection_voc`. rec holds None for a class without objects that count, and prec
    None for a class that has no detections either; precision is NaN as long as only difficult objects were hit.
    """
    accumulator = DetectionVOCAccumulator(iou_thresh=iou_thresh, plus=plus)
    accumulator.update(pred_bboxes, pred_labels, pred_scores, gt_bboxes, gt_labels, gt_difficults)
    result = accumulator.compute()
    return result.prec, result.rec
