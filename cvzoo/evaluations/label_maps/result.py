"""What a scoring of label maps found."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ShapeError


def calc_semantic_segmentation_iou(confusion):
    """(L,) float64: intersection over union of each class; NaN for one that is neither there nor predicted.

    confusion: (L, L) int, rows are the true classes
    """
    confusion = np.asarray(confusion)
    if confusion.ndim != 2 or confusion.shape[0] != confusion.shape[1]:
        raise ShapeError("confusion must be (L, L)", got=confusion.shape)
    right = np.diag(confusion)
    return _ratio(right, confusion.sum(axis=0) + confusion.sum(axis=1) - right)


@dataclasses.dataclass(frozen=True, eq=False)
class SemanticSegmentationResult:
    """All numbers that a confusion matrix holds.

    confusion: (L, L) int64, rows are the true classes
    """

    confusion: np.ndarray

    @property
    def iou(self) -> np.ndarray:
        """(L,) float64; NaN for a class that is neither there nor predicted, 0 for one that is only predicted."""
        return calc_semantic_segmentation_iou(self.confusion)

    @property
    def miou(self) -> float:
        """The mean over the classes that have an IoU."""
        return _mean(self.iou)

    @property
    def class_accuracy(self) -> np.ndarray:
        """(L,) float64, the share of each class' pixels that were found; NaN for a class that is not there."""
        return _ratio(np.diag(self.confusion), self.confusion.sum(axis=1))

    @property
    def mean_class_accuracy(self) -> float:
        """The mean over the classes that are there."""
        return _mean(self.class_accuracy)

    @property
    def pixel_accuracy(self) -> float:
        """The share of all pixels that were found; NaN without any."""
        return float(_ratio(np.trace(self.confusion), self.confusion.sum()))

    @property
    def fwiou(self) -> float:
        """The mean of IoUs weighted by the true number of pixels; NaN without any."""
        n_pixel = self.confusion.sum(axis=1)
        there = n_pixel > 0
        return float((n_pixel[there] / n_pixel.sum() * self.iou[there]).sum()) if there.any() else float("nan")

    def to_dict(self) -> dict:
        """ChainerCV's keys, and fwiou."""
        return {
            "iou": self.iou,
            "miou": self.miou,
            "pixel_accuracy": self.pixel_accuracy,
            "class_accuracy": self.class_accuracy,
            "mean_class_accuracy": self.mean_class_accuracy,
            "fwiou": self.fwiou,
        }


def _ratio(part, whole):
    part, whole = np.asarray(part, np.float64), np.asarray(whole)
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)


def _mean(values):
    some = values[~np.isnan(values)]
    return float(some.mean()) if len(some) else float("nan")
