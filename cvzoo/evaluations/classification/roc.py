"""Receiver operating characteristic (ROC) curves."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array, ArrayLike


@dataclasses.dataclass(frozen=True, eq=False)
class ROCCurve:
    """True-positive rate over false-positive rate of a class at each score threshold that occurs, descending.

    threshold: (S,) float64, the first is infinite: nothing is predicted
    fpr, tpr: (S,) float64, fractions of the negatives and of the positives with scores of at least the threshold; NaN
        without negatives or positives
    """

    threshold: Array
    fpr: Array
    tpr: Array

    @property
    def auc(self) -> float:
        """Area under the curve: the probability that a positive scores above a negative; ties count half."""
        if len(self.fpr) < 2:
            return float("nan")
        return float((np.diff(self.fpr) * (self.tpr[1:] + self.tpr[:-1]) / 2).sum())


def calc_roc(score: ArrayLike, positive: ArrayLike) -> ROCCurve:
    """The ROC curve of scores.

    score: (D,) float, the higher the more confident; positive: (D,) bool, whether the image is of the class
    The AUC of a curve without positives or negatives is NaN.
    Raises ShapeError if the lengths differ, ValueRangeError if a score is NaN.
    Source: An introduction to ROC analysis (Fawcett, 2006).
    """
    score, positive = np.asarray(score, np.float64), np.asarray(positive, bool)
    if score.ndim != 1 or score.shape != positive.shape:
        raise ShapeError("score and positive must be (D,)", got=(score.shape, positive.shape))
    if np.isnan(score).any():
        raise ValueRangeError(f"score {int(np.argmax(np.isnan(score)))} is NaN")
    order = np.argsort(-score, kind="stable")
    falling, right = score[order], positive[order]
    # a threshold keeps either all images of a score or none
    last = np.flatnonzero(falling[1:] != falling[:-1])
    last = np.append(last, len(falling) - 1) if len(falling) else last
    rates = [
        np.append(0.0, np.cumsum(each)[last] / each.sum() if each.any() else np.full(len(last), np.nan))
        for each in (~right, right)
    ]
    return ROCCurve(np.append(np.inf, falling[last]), *rates)
