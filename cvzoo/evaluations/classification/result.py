"""The result of an evaluation of image classification."""

import dataclasses

import numpy as np

from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, eq=False)
class ClassificationResult:
    """Top-k accuracies and confusion matrix of a classifier.

    top: values of k, ascending; n_right: (T,) int64, number of images with the true class among the top k predictions
    confusion: (L, L) int64, rows are the true classes, columns the predicted ones
    """

    top: tuple[int, ...]
    n_right: Array
    confusion: Array

    @property
    def n_photo(self) -> int:
        """The number of images."""
        return int(self.confusion.sum())

    @property
    def accuracy(self) -> float:
        """Top-1 accuracy; NaN without images."""
        return float(np.trace(self.confusion)) / self.n_photo if self.n_photo else float("nan")

    @property
    def class_accuracy(self) -> Array:
        """(L,) float64, the recall of each class; NaN for a class without images."""
        n = self.confusion.sum(axis=1)
        return np.divide(np.diag(self.confusion), n, out=np.full(len(n), np.nan), where=n > 0)

    @property
    def class_precision(self) -> Array:
        """(L,) float64, the fraction of correct predictions of each class; NaN for a class that is never predicted."""
        n = self.confusion.sum(axis=0)
        return np.divide(np.diag(self.confusion), n, out=np.full(len(n), np.nan), where=n > 0)

    @property
    def class_f1(self) -> Array:
        """(L,) float64, the F1 score of each class; NaN for a class without images that is never predicted."""
        n = self.confusion.sum(axis=0) + self.confusion.sum(axis=1)
        return np.divide(2 * np.diag(self.confusion), n, out=np.full(len(n), np.nan), where=n > 0)

    @property
    def macro_precision(self) -> float:
        """The mean precision of the classes with images, 0 for one that is never predicted; NaN without images."""
        return self._macro(np.nan_to_num(self.class_precision))

    @property
    def macro_f1(self) -> float:
        """The mean F1 score of the classes with images; NaN without images."""
        return self._macro(self.class_f1)

    def _macro(self, values: Array) -> float:
        some = self.confusion.sum(axis=1) > 0
        return float(values[some].mean()) if some.any() else float("nan")

    @property
    def mean_class_accuracy(self) -> float:
        """The mean over classes with images."""
        some = self.class_accuracy[~np.isnan(self.class_accuracy)]
        return float(some.mean()) if len(some) else float("nan")

    def to_dict(self) -> dict:
        """accuracy, top<k>_accuracy for each k, class_accuracy, mean_class_accuracy."""
        n = self.n_photo
        out = {"accuracy": self.accuracy}
        for k, right in zip(self.top, self.n_right.tolist()):
            out[f"top{k}_accuracy"] = right / n if n else float("nan")
        return {**out, "class_accuracy": self.class_accuracy, "mean_class_accuracy": self.mean_class_accuracy}
