"""Calibration of confidence scores: reliability diagrams and expected calibration error."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array, ArrayLike

_MOST_BINS = 1_000_000  # a larger number is a mistake, and would exhaust memory


@dataclasses.dataclass(frozen=True, eq=False)
class Reliability:
    """The reliability diagram: accuracy by confidence.

    edges: (K + 1,) float64, edges of the bins of confidence; a bin includes its upper edge and not its lower one
    count: (K,) int64; confidence, accuracy: (K,) float64, mean score and accuracy of a bin, NaN in an empty bin
    """

    edges: Array
    count: Array
    confidence: Array
    accuracy: Array

    @property
    def ece(self) -> float:
        """Expected calibration error: the mean gap between confidence and accuracy, weighted by count; NaN if empty."""
        n = self.count.sum()
        return float((self._gaps() * self.count[self.count > 0]).sum() / n) if n else float("nan")

    @property
    def mce(self) -> float:
        """Maximum calibration error: the largest gap of a bin; NaN if all are empty."""
        return float(self._gaps().max()) if self.count.any() else float("nan")

    def _gaps(self) -> Array:
        some = self.count > 0
        return np.abs(self.confidence[some] - self.accuracy[some])


def calc_reliability(score: ArrayLike, correct: ArrayLike, *, n_bin: int = 15) -> Reliability:
    """The reliability of scores.

    score: (D,) float in [0, 1]; correct: (D,) bool, whether the prediction was right
    n_bin: bins of equal width
    Raises ShapeError if the lengths differ, ValueRangeError if a score is NaN or out of range, or n_bin is.
    Source: On Calibration of Modern Neural Networks (Guo et al., 2017). For detections, correct is whether one finds an
    object: Multivariate Confidence Calibration for Object Detection (Küppers et al., 2020), with the score alone.
    """
    score, correct = np.asarray(score, np.float64), np.asarray(correct, bool)
    if score.ndim != 1 or score.shape != correct.shape:
        raise ShapeError("score and correct must be (D,)", got=(score.shape, correct.shape))
    if not isinstance(n_bin, int | np.integer) or not 1 <= n_bin <= _MOST_BINS:
        raise ValueRangeError(f"n_bin must be an integer from 1 to {_MOST_BINS:,}", got=n_bin)
    wrong = ~((score >= 0) & (score <= 1))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueRangeError(f"score {row} is not a probability", expected="0 .. 1", got=score[row])
    edges = np.linspace(0, 1, n_bin + 1)
    place = np.maximum(np.searchsorted(edges, score, side="left") - 1, 0)
    count = np.bincount(place, minlength=n_bin)
    means = (
        np.divide(np.bincount(place, each, minlength=n_bin), count, out=np.full(n_bin, np.nan), where=count > 0)
        for each in (score, correct)
    )
    return Reliability(edges, count, *means)


def reliability_record(score: ArrayLike, correct: ArrayLike) -> dict | None:
    """`calc_reliability` as JSON has it: ece, mce, bins [{low, high, count, confidence, precision}].

    Means of nothing are None. The result is None if scores are not in [0, 1].
    """
    score = np.asarray(score)
    if ((score < 0) | (score > 1)).any():
        return None
    reliability = calc_reliability(score, correct)
    names = ("low", "high", "count", "confidence", "precision")
    bins = zip(
        reliability.edges, reliability.edges[1:], reliability.count, reliability.confidence, reliability.accuracy
    )
    return {
        "ece": _number(reliability.ece),
        "mce": _number(reliability.mce),
        "bins": [{name: _number(value) for name, value in zip(names, row)} for row in bins],
    }


def _number(value: float | np.integer) -> float | int | None:
    if isinstance(value, np.integer):
        return int(value)
    return float(value) if np.isfinite(value) else None
