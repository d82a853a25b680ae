"""Mean IoU and pixel accuracy of semantic segmentation."""

from collections.abc import Iterable
from typing import Any

from cvzoo.evaluations.label_maps.confusion import calc_semantic_segmentation_confusion
from cvzoo.evaluations.label_maps.result import SemanticSegmentationResult
from cvzoo.typing.aliases import ArrayLike


def eval_semantic_segmentation(
    pred_labels: Iterable[ArrayLike], gt_labels: Iterable[ArrayLike], *, n_class: int | None = None
) -> dict[str, Any]:
    """Scores of semantic segmentation, under ChainerCV's keys.

    pred_labels: iterable of (H, W) int, one an image
    gt_labels: iterable of (H, W) int, likewise; pixels below 0 are left out
    n_class: number of classes; None: up to the highest label
    Returns a dictionary: iou and class_accuracy (L,) float64; miou, mean_class_accuracy, pixel_accuracy and fwiou
    (IoU weighted by the classes' true pixels), floats. NaN for classes without pixels; means leave them out.
    Raises: see `calc_semantic_segmentation_confusion`. Where ChainerCV differs: there a negative prediction silently
    counts for another class.
    """
    confusion = calc_semantic_segmentation_confusion(pred_labels, gt_labels, n_class=n_class)
    return SemanticSegmentationResult(confusion).to_dict()
