"""What a scoring of class labels found."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class ClassificationResult:
    """Counts of right guesses, and which class was taken for which.

    top: the ranks asked for, rising; n_right: (T,) int64, photos whose true class is among so many first guesses
    confusion: (L, L) int64, rows are the true classes, columns the first guesses
    """

    top: tuple[int, ...]
    n_right: np.ndarray
    confusion: np.ndarray

    @property
    def n_photo(self) -> int:
        """Photos seen."""
        return int(self.confusion.sum())

    @property
    def accuracy(self) -> float:
        """The share of right first guesses; NaN without photos."""
        return float(np.trace(self.confusion)) / self.n_photo if self.n_photo else float("nan")

    @property
    def class_accuracy(self) -> np.ndarray:
        """(L,) float64, the share of each class' photos that were guessed; NaN for a class without photos."""
        n = self.confusion.sum(axis=1)
        return np.divide(np.diag(self.confusion), n, out=np.full(len(n), np.nan), where=n > 0)

    @property
    def mean_class_accuracy(self) -> float:
        """The mean over classes with photos."""
        some = self.class_accuracy[~np.isnan(self.class_accuracy)]
        return float(some.mean()) if len(some) else float("nan")

    def to_dict(self) -> dict:
        """accuracy, top<k>_accuracy for each k, class_accuracy, mean_class_accuracy."""
        n = self.n_photo
        out = {"accuracy": self.accuracy}
        for k, right in zip(self.top, self.n_right.tolist()):
            out[f"top{k}_accuracy"] = right / n if n else float("nan")
        return {**out, "class_accuracy": self.class_accuracy, "mean_class_accuracy": self.mean_class_accuracy}
