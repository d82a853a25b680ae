"""Average precision of instance masks after Pascal VOC."""

from cvzoo.evaluations.photos import photos_in_step
from cvzoo.evaluations.voc.accumulators import InstanceSegmentationVOCAccumulator
from cvzoo.evaluations.voc.average_precision import VOC07_RECALLS
from cvzoo.evaluations.voc.matches import as_rles


def eval_instance_segmentation_voc(
    pred_masks,
    pred_labels,
    pred_scores,
    gt_masks,
    gt_labels,
    iou_thresh=0.5,
    use_07_metric=False,
    *,
    n_fg_class=None,
    recalls=VOC07_RECALLS,
):
    """{'ap': (L,) float64, 'map': its mean}: average precision of each class, NaN where there is no object to find.

    The first five are iterables of one array a photo:
    pred_masks: (R, H, W) bool or RLEs; pred_labels: (R,) int; pred_scores: (R,) float
    gt_masks: (R, H, W) bool or RLEs; gt_labels: (R,) int
    iou_thresh: overlaps of it and above count
    use_07_metric, n_fg_class, recalls: see `eval_detection_voc`
    Raises ShapeError, DtypeError or ValueRangeError with the photo's index on input that makes no sense.

    Source: Simultaneous Detection and Segmentation (Hariharan et al., 2014), with `eval_detection_voc`'s rules.
    """
    columns = (pred_masks, pred_labels, pred_scores, gt_masks, gt_labels)
    result = _accumulated(columns, iou_thresh, n_fg_class).compute(use_07_metric=use_07_metric, recalls=recalls)
    return result.to_dict()


def calc_instance_segmentation_voc_prec_rec(pred_masks, pred_labels, pred_scores, gt_masks, gt_labels, iou_thresh=0.5):
    """Precision and recall of each class after each detection, surest first: two lists of L arrays, prec and rec.

    The arguments are those of `eval_instance_segmentation_voc`; see `calc_detection_voc_prec_rec`.
    """
    result = _accumulated((pred_masks, pred_labels, pred_scores, gt_masks, gt_labels), iou_thresh, None).compute()
    return result.prec, result.rec


def _accumulated(columns, iou_thresh, n_fg_class):
    # masks one photo at a time: dense ones of a whole data set do not fit into memory
    names = ("pred_masks", "pred_labels", "pred_scores", "gt_masks", "gt_labels")
    photos = []
    for n, (pred_mask, pred_label, pred_score, gt_mask, gt_label) in enumerate(
        photos_in_step(dict(zip(names, columns)))
    ):
        pred_rle, gt_rle = as_rles(pred_mask, f"pred_masks of photo {n}"), as_rles(gt_mask, f"gt_masks of photo {n}")
        photos.append((pred_rle, pred_label, pred_score, gt_rle, gt_label))
    accumulator = InstanceSegmentationVOCAccumulator(iou_thresh=iou_thresh, n_fg_class=n_fg_class)
    accumulator.update(*([photo[k] for photo in photos] for k in range(len(names))))
    return accumulator
