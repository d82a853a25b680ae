"""Streaming classification metrics."""

from collections.abc import Iterable

import numpy as np

from cvzoo.errors.exceptions import ConfigError, ShapeError, ValueRangeError
from cvzoo.evaluations.classification.rank_of_label import rank_of_label
from cvzoo.evaluations.classification.result import ClassificationResult
from cvzoo.typing.aliases import ArrayLike


class ClassificationAccumulator:
    """Streaming `eval_classification`; holds one confusion matrix, and any split gives the same bits.

    n_class: number of classes
    top: values of k of the top-k accuracies; a k of n_class or above gives an accuracy of 1
    """

    def __init__(self, n_class: int, *, top: Iterable[int] = (1, 5)) -> None:
        top = tuple(sorted(set(top)))
        if n_class < 1 or not top or top[0] < 1:
            raise ValueRangeError("n_class and top must be 1 or more", got=(n_class, top))
        self.n_class, self.top = n_class, top
        self._n_right = np.zeros(len(top), np.int64)
        self._confusion = np.zeros((n_class, n_class), np.int64)

    def update(self, probs: ArrayLike, labels: ArrayLike) -> None:
        """Adds B images.

        probs: (B, L) float, the higher the more confident; labels: (B,) int
        Raises as `rank_of_label` does; images are counted from the first of this call.
        """
        probs, labels = np.asarray(probs), np.asarray(labels)
        if probs.ndim == 2 and probs.shape[1] != self.n_class:
            raise ShapeError("probs must have one column per class", expected=self.n_class, got=probs.shape[1])
        rank = rank_of_label(probs, labels)
        if len(rank) == 0:
            return
        self._n_right += (rank[:, None] < self.top).sum(axis=0)
        cells = labels.astype(np.int64) * self.n_class + probs.argmax(axis=1)
        self._confusion += np.bincount(cells, minlength=self.n_class**2).reshape(self._confusion.shape)

    def merge(self, other: "ClassificationAccumulator") -> None:
        """Adds the images of another accumulator. Raises ConfigError if its settings differ."""
        same = isinstance(other, ClassificationAccumulator) and (other.n_class, other.top) == (self.n_class, self.top)
        if not same:
            raise ConfigError("accumulators of different settings cannot be merged", expected=(self.n_class, self.top))
        self._n_right += other._n_right
        self._confusion += other._confusion

    def compute(self) -> ClassificationResult:
        """The result for all images so far."""
        return ClassificationResult(self.top, self._n_right.copy(), self._confusion.copy())
