"""The result of an evaluation of semantic segmentation."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.typing.aliases import Array, ArrayLike


def calc_semantic_segmentation_iou(confusion: ArrayLike) -> Array:
    """(L,) float64: intersection over union of each class; NaN for a class that neither occurs nor is predicted.

    confusion: (L, L) int, rows are the true classes; or (L, L + 1), with pixels predicted as none of them last
    """
    confusion = np.asarray(confusion)
    if confusion.ndim != 2 or confusion.shape[1] - confusion.shape[0] not in (0, 1):
        raise ShapeError("confusion must be (L, L) or (L, L + 1)", got=confusion.shape)
    right = np.diag(confusion)
    return _ratio(right, confusion.sum(axis=0)[: len(right)] + confusion.sum(axis=1) - right)


@dataclasses.dataclass(frozen=True, eq=False)
class SemanticSegmentationResult:
    """All scores of a confusion matrix.

    confusion: (L, L) int64, rows are the true classes; or (L, L + 1), with pixels predicted as none of them last
    """

    confusion: Array

    @property
    def iou(self) -> Array:
        """(L,) float64; NaN for a class that neither occurs nor is predicted, 0 for one that is only predicted."""
        return calc_semantic_segmentation_iou(self.confusion)

    @property
    def miou(self) -> float:
        """Mean IoU, over the classes that have an IoU."""
        return _mean(self.iou)

    @property
    def class_accuracy(self) -> Array:
        """(L,) float64, the fraction of correct pixels of each class; NaN for a class without pixels."""
        return _ratio(np.diag(self.confusion), self.confusion.sum(axis=1))

    @property
    def mean_class_accuracy(self) -> float:
        """The mean over the classes with pixels."""
        return _mean(self.class_accuracy)

    @property
    def pixel_accuracy(self) -> float:
        """The fraction of correct pixels; NaN without any."""
        return float(_ratio(np.trace(self.confusion), self.confusion.sum()))

    @property
    def fwiou(self) -> float:
        """Frequency-weighted IoU: the mean weighted by the true number of pixels; NaN without any."""
        n_pixel = self.confusion.sum(axis=1)
        some = n_pixel > 0
        return float((n_pixel[some] / n_pixel.sum() * self.iou[some]).sum()) if some.any() else float("nan")

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


def _ratio(part: ArrayLike, whole: ArrayLike) -> Array:
    part, whole = np.asarray(part, np.float64), np.asarray(whole)
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)


def _mean(values: Array) -> float:
    some = values[~np.isnan(values)]
    return float(some.mean()) if len(some) else float("nan")
