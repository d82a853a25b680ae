"""Precision and recall of each class over its thresholds of score."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError


@dataclasses.dataclass(frozen=True, eq=False)
class PRCurve:
    """What a class reaches if detections below a score are dropped, at each score that occurs, the highest first.

    score, precision, recall: (S,) float64; recall is NaN if n_positive is 0
    n_positive: objects to be found
    ap: average precision at COCO's 101 recalls, equal scores in the order in which they came; NaN without objects
    """

    score: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    n_positive: int
    ap: float

    @property
    def f1(self) -> np.ndarray:
        """(S,) float64, the harmonic mean of precision and recall; 0 if both are."""
        total = self.precision + self.recall
        return np.divide(2 * self.precision * self.recall, total, out=total * 0, where=total > 0)


def calc_pr_curves(score, label, match, n_positive):
    """One PRCurve a class.

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
        raise ValueRangeError(f"the label of detection {row} is no class", got=label[row])
    counted = match >= 0
    score, label, match = score[counted], label[counted], match[counted]
    order = np.lexsort((-score, label))
    ends = np.searchsorted(label[order], np.arange(len(n_positive) + 1))
    return [
        _curve(score[order[begin:end]], match[order[begin:end]] == 1, int(n))
        for begin, end, n in zip(ends, ends[1:], n_positive)
    ]


def _curve(score, right, n_positive):
    tp = np.cumsum(right)
    precision = tp / np.arange(1, len(tp) + 1)
    recall = tp / n_positive if n_positive else np.full(len(tp), np.nan)
    # a threshold takes all detections of a score or none
    last = np.flatnonzero(np.diff(score, append=-np.inf))
    return PRCurve(score[last], precision[last], recall[last], n_positive, _ap(precision, recall, n_positive))


def _ap(precision, recall, n_positive):
    if n_positive == 0:
        return float("nan")
    envelope = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0)
    return float(envelope[np.searchsorted(recall, np.linspace(0, 1, 101), side="left")].mean())
