"""Scoring of class labels as photos come."""

import numpy as np

from cvzoo.errors.exceptions import ConfigError, ShapeError, ValueRangeError
from cvzoo.evaluations.classification.rank_of_label import rank_of_label
from cvzoo.evaluations.classification.result import ClassificationResult


class ClassificationAccumulator:
    """Streaming `eval_classification`; holds one confusion matrix, and any split gives the same bits.

    n_class: how many classes there are
    top: a right class among so many first guesses counts; those beyond n_class are always right
    """

    def __init__(self, n_class, *, top=(1, 5)):
        top = tuple(sorted(set(top)))
        if n_class < 1 or not top or top[0] < 1:
            raise ValueRangeError("n_class and top must be 1 or more", got=(n_class, top))
        self.n_class, self.top = n_class, top
        self._n_right = np.zeros(len(top), np.int64)
        self._confusion = np.zeros((n_class, n_class), np.int64)

    def update(self, probs, labels) -> None:
        """Count B more photos.

        probs: (B, L) float, the higher the surer; labels: (B,) int
        Raises as `rank_of_label` does; photos are counted from the first of this call.
        """
        probs, labels = np.asarray(probs), np.asarray(labels)
        if probs.ndim == 2 and probs.shape[1] != self.n_class:
            raise ShapeError("probs must have a column a class", expected=self.n_class, got=probs.shape[1])
        rank = rank_of_label(probs, labels)
        if len(rank) == 0:
            return
        self._n_right += (rank[:, None] < self.top).sum(axis=0)
        cells = labels.astype(np.int64) * self.n_class + probs.argmax(axis=1)
        self._confusion += np.bincount(cells, minlength=self.n_class**2).reshape(self._confusion.shape)

    def merge(self, other) -> None:
        """Add what another accumulator has seen. Raises ConfigError if it has other settings."""
        same = isinstance(other, ClassificationAccumulator) and (other.n_class, other.top) == (self.n_class, self.top)
        if not same:
            raise ConfigError("accumulators of different settings do not merge", expected=(self.n_class, self.top))
        self._n_right += other._n_right
        self._confusion += other._confusion

    def compute(self) -> ClassificationResult:
        """The result for all photos so far."""
        return ClassificationResult(self.top, self._n_right.copy(), self._confusion.copy())
