"""Pascal VOC's evaluation of instance segmentation."""

from collections.abc import Iterable, Sequence
from typing import Any

from cvzoo.evaluations.instances import zip_images
from cvzoo.evaluations.voc.accumulators import InstanceSegmentationVOCAccumulator
from cvzoo.evaluations.voc.average_precision import VOC07_RECALLS, Curves
from cvzoo.evaluations.voc.matches import as_rles
from cvzoo.geometry.rle import RLEs
from cvzoo.typing.aliases import ArrayLike


def eval_instance_segmentation_voc(
    pred_masks: Iterable[ArrayLike | RLEs],
    pred_labels: Iterable[ArrayLike],
    pred_scores: Iterable[ArrayLike],
    gt_masks: Iterable[ArrayLike | RLEs],
    gt_labels: Iterable[ArrayLike],
    iou_thresh: float = 0.5,
    use_07_metric: bool = False,
    *,
    n_fg_class: int | None = None,
    recalls: ArrayLike = VOC07_RECALLS,
) -> dict[str, Any]:
    """VOC's average precision of masks: {'ap': (L,) float64 by class, NaN for a class without objects, 'map': mean}.

    The first five are iterables of one array per image:
    pred_masks: (R, H, W) bool or RLEs; pred_labels: (R,) int; pred_scores: (R,) float
    gt_masks: (R, H, W) bool or RLEs; gt_labels: (R,) int
    iou_thresh: overlaps of at least this count
    use_07_metric, n_fg_class, recalls: see `eval_detection_voc`
    Raises ShapeError, DtypeError or ValueRangeError with the image's index for malformed input.

    Source: Simultaneous Detection and Segmentation (Hariharan et al., 2014), with `eval_detection_voc`'s rules.
    """
    columns = (pred_masks, pred_labels, pred_scores, gt_masks, gt_labels)
    result = _accumulated(columns, iou_thresh, n_fg_class).compute(use_07_metric=use_07_metric, recalls=recalls)
    return result.to_dict()


def calc_instance_segmentation_voc_prec_rec(
    pred_masks: Iterable[ArrayLike | RLEs],
    pred_labels: Iterable[ArrayLike],
    pred_scores: Iterable[ArrayLike],
    gt_masks: Iterable[ArrayLike | RLEs],
    gt_labels: Iterable[ArrayLike],
    iou_thresh: float = 0.5,
) -> tuple[Curves, Curves]:
    """Precision and recall of each class after each detection, by descending score: two lists of L arrays.

    The arguments are those of `eval_instance_segmentation_voc`; see `calc_detection_voc_prec_rec`.
    """
    result = _accumulated((pred_masks, pred_labels, pred_scores, gt_masks, gt_labels), iou_thresh, None).compute()
    return result.prec, result.rec


def _accumulated(
    columns: Sequence[Iterable[Any]], iou_thresh: float, n_fg_class: int | None
) -> InstanceSegmentationVOCAccumulator:
    # masks one image at a time: dense ones of a whole data set do not fit into memory
    names = ("pred_masks", "pred_labels", "pred_scores", "gt_masks", "gt_labels")
    pred_rles, gt_rles, others = [], [], []
    for n, (pred_mask, pred_label, pred_score, gt_mask, gt_label) in enumerate(zip_images(dict(zip(names, columns)))):
        pred_rles.append(as_rles(pred_mask, f"pred_masks of image {n}"))
        gt_rles.append(as_rles(gt_mask, f"gt_masks of image {n}"))
        others.append((pred_label, pred_score, gt_label))
    accumulator = InstanceSegmentationVOCAccumulator(iou_thresh=iou_thresh, n_fg_class=n_fg_class)
    pred_labels, pred_scores, gt_labels = ([values[k] for values in others] for k in range(3))
    accumulator.update(pred_rles, pred_labels, pred_scores, gt_rles, gt_labels)
    return accumulator
