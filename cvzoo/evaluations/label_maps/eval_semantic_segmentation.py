"""Intersection over union and accuracy of label maps."""

from cvzoo.evaluations.label_maps.confusion import calc_semantic_segmentation_confusion
from cvzoo.evaluations.label_maps.result import SemanticSegmentationResult


def eval_semantic_segmentation(pred_labels, gt_labels, *, n_class=None):
    """Scores of label maps, under ChainerCV's keys.

    pred_labels: iterable of (H, W) int, one a photo
    gt_labels: iterable of (H, W) int, likewise; pixels below 0 are left out
    n_class: how many classes there are; None: as many as the highest class seen needs
    Returns a dictionary: iou and class_accuracy (L,) float64; miou, mean_class_accuracy, pixel_accuracy and fwiou
    (IoU weighted by the classes' true pixels), floats. NaN for classes without pixels; means leave them out.
    Raises: see `calc_semantic_segmentation_confusion`. Where ChainerCV differs: there a negative prediction silently
    counts for another class.
    """
    confusion = calc_semantic_segmentation_confusion(pred_labels, gt_labels, n_class=n_class)
    return SemanticSegmentationResult(confusion).to_dict()
