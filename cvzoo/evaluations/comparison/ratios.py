"""Scores of label maps, classes and panoptic segments from counts per image, under weights of images."""

import dataclasses

import numpy as np

from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, eq=False)
class WeightedIoU:
    """Scores of semantic segmentation under weights of images: mean IoU, pixel accuracy, IoU of each class.

    counts: (I, 3, L) int64, of each image and class: correct pixels, pixels of the ground truth, predicted pixels
    """

    counts: Array

    def __call__(self, weights: Array) -> Array:
        """(2 + L,) float64: mean IoU, pixel accuracy and the IoUs; NaN where undefined. weights: (I,) float64."""
        right, true, predicted = np.tensordot(weights, self.counts, axes=1)
        iou = _ratio(right, true + predicted - right)
        return np.concatenate(([_mean(iou)], _ratio(right.sum(keepdims=True), true.sum(keepdims=True)), iou))


@dataclasses.dataclass(frozen=True, eq=False)
class WeightedAccuracy:
    """Scores of image classification under weights of images: accuracies and F1.

    label, pred: (I,) int64, true and predicted class; is_top5: (I,) bool, whether the class is among the best five
    n_class: number of classes of the ground truth
    """

    label: Array
    pred: Array
    is_top5: Array
    n_class: int

    def __call__(self, weights: Array) -> Array:
        """(4 + L,) float64: accuracy, top-5, mean over classes, macro F1, and the accuracy of each class.

        weights: (I,) float64
        """
        n, right = self.n_class, self.label == self.pred
        true = np.bincount(self.label, weights, minlength=n)[:n]
        hit = np.bincount(self.label[right], weights[right], minlength=n)[:n]
        predicted = np.bincount(self.pred, weights, minlength=n)[:n]
        recall, total = _ratio(hit, true), weights.sum()
        f1 = _ratio(2 * hit, true + predicted)
        means = hit.sum() / total, weights[self.is_top5].sum() / total, _mean(recall), _mean(f1[true > 0])
        return np.concatenate((means, recall))


@dataclasses.dataclass(frozen=True, eq=False)
class WeightedPanopticQuality:
    """Panoptic quality under weights of images.

    counts: (I, 4, L) float64, of each image and class: sum of IoUs of matched segments, true positives, false positives
        and false negatives
    is_thing: (L,) bool
    """

    counts: Array
    is_thing: Array

    def __call__(self, weights: Array) -> Array:
        """(3 + L,) float64: the means over all classes, over things and over stuff, and each class; NaN: undefined."""
        iou, tp, fp, fn = np.tensordot(weights, self.counts, axes=1)
        pq = _ratio(iou, tp + 0.5 * fp + 0.5 * fn)
        return np.concatenate(([_mean(pq), _mean(pq[self.is_thing]), _mean(pq[~self.is_thing])], pq))


def _ratio(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0)


def _mean(values: Array) -> float:
    some = values[~np.isnan(values)]
    return float(some.mean()) if some.size else float("nan")
