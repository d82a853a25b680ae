"""Precision-recall curves."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array, ArrayLike


@dataclasses.dataclass(frozen=True, eq=False)
class PRCurve:
    """Precision and recall of a class at each score threshold that occurs, descending.

    score, precision, recall: (S,) float64; recall is NaN if n_positive is 0
    n_positive: number of objects that are not ignored
    ap: average precision at COCO's 101 recalls, equal scores in their order; NaN without objects
    """

    score: Array
    precision: Array
    recall: Array
    n_positive: int
    ap: float

    @property
    def f1(self) -> Array:
        """(S,) float64, the F1 score, the harmonic mean of precision and recall; 0 if both are."""
        total = self.precision + self.recall
        return np.divide(2 * self.precision * self.recall, total, out=total * 0, where=total > 0)


def calc_pr_curves(score: ArrayLike, label: ArrayLike, match: ArrayLike, n_positive: ArrayLike) -> list[PRCurve]:
    """One PRCurve per class.

    score: (D,) float; label: (D,) int; match: (D,) int, 1 right, 0 wrong, -1 not counted
    n_positive: (L,) int, objects of each class
    Raises ShapeError if the first three differ in length, ValueRangeError if a score is NaN or a label no class.
    """
    score, label, match = np.asarray(score, np.float64), np.asarray(label), np.asarray(match)
    n_positive = np.asarray(n_positive)
    if score.ndim != 1 or not score.shape == label.shape == match.shape:
        raise ShapeError("score, label and match must be (D,)", got=(score.shape, label.shape, match.shape))
    if np.isnan(score).any():
        raise ValueRangeError(f"the score of detection {int(np.argmax(np.isnan(score)))} is NaN")
    wrong = (label < 0) | (label >= len(n_positive))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueRangeError(f"the label of detection {row} is out of range", got=label[row])
    counted = match >= 0
    score, label, match = score[counted], label[counted], match[counted]
    order = np.lexsort((-score, label))
    ends = np.searchsorted(label[order], np.arange(len(n_positive) + 1))
    return [
        _curve(score[order[begin:end]], match[order[begin:end]] == 1, int(n))
        for begin, end, n in zip(ends, ends[1:], n_positive)
    ]


def _curve(score: Array, right: Array, n_positive: int) -> PRCurve:
    tp = np.cumsum(right)
    precision = tp / np.arange(1, len(tp) + 1)
    recall = tp / n_positive if n_positive else np.full(len(tp), np.nan)
    # a threshold keeps either all detections of a score or none
    last = np.flatnonzero(np.diff(score, append=-np.inf))
    return PRCurve(score[last], precision[last], recall[last], n_positive, _ap(precision, recall, n_positive))


def _ap(precision: Array, recall: Array, n_positive: int) -> float:
    if n_positive == 0:
        return float("nan")
    envelope = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0)
    return float(envelope[np.searchsorted(recall, np.linspace(0, 1, 101), side="left")].mean())
