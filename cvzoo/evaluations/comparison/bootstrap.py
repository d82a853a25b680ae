"""Paired bootstrap over images: intervals of two sets of scores and of their differences."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array

_MOST_UNDEFINED = 0.01  # of the resamples; a class in four images is missing in 1.8 % of them, one in five in 0.7 %
Scores = Callable[[Array], Array]
"""From weights of images (I,) float64 to S scores (S,) float64, NaN where one is undefined."""


@dataclasses.dataclass(frozen=True)
class ScoreInterval:
    """A value with the bounds of its confidence interval; NaN where they are undefined."""

    value: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A score of two sets of predictions on the same images.

    name: of the score; a, b: its values; difference: of b and a
    p_value: two-sided, of the hypothesis that both are equally good: twice the fraction of resamples, at most 1, whose
        difference is zero or of the other sign; NaN where the score is undefined
    """

    name: str
    a: ScoreInterval
    b: ScoreInterval
    difference: ScoreInterval
    p_value: float

    @property
    def differs(self) -> bool:
        """Whether the interval of the difference excludes zero."""
        return self.difference.low > 0 or self.difference.high < 0


def compare_scores(
    scores_a: Scores,
    scores_b: Scores,
    names: Sequence[str],
    n_image: int,
    *,
    n_resample: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    step: Callable[[], None] | None = None,
) -> list[Comparison]:
    """One `Comparison` per score: the values of two sets of predictions, with percentile bootstrap intervals.

    scores_a, scores_b: functions from weights of the images (n_image,) float64 to the scores (S,) float64, such as
        `WeightedAveragePrecision`: a weight is the number of times that an image is in the data set
    names: S names
    n_resample: the number of resamples; seed: of the random numbers; confidence: of the intervals, in (0, 1)
    step: called after each resample
    The images are drawn with replacement, the same ones for both (paired), so that the difference does not contain how
    hard the drawn images are. A class is undefined in resamples without objects of it; if these are more than 1 %, as
    for a class in fewer than five images, there is no interval, since the resamples vary too little.
    Raises ValueRangeError if there are no images, or a setting is out of range, ShapeError if there are not S scores.
    Source: An Introduction to the Bootstrap (Efron, Tibshirani, 1993), percentile intervals; Statistical Significance
    Tests for Machine Translation Evaluation (Koehn, 2004), paired resampling.
    """
    if n_image < 1:
        raise ValueRangeError("there are no images to compare on")
    if n_resample < 2 or not 0 < confidence < 1:
        raise ValueRangeError(
            "n_resample or confidence is out of range", expected="2 or more, (0, 1)", got=(n_resample, confidence)
        )
    ones = np.ones(n_image)
    values = np.stack([scores_a(ones), scores_b(ones)])
    if values.shape != (2, len(names)):
        raise ShapeError("there must be a name for each score", expected=values.shape[1:], got=(len(names),))
    resampled = np.empty((n_resample, 2, len(names)))
    for row, weights in zip(resampled, _resamples(n_image, n_resample, seed)):
        row[0], row[1] = scores_a(weights), scores_b(weights)
        if step is not None:
            step()
    tail = (1 - confidence) / 2
    a, b = (_intervals(values[i], resampled[:, i], tail) for i in range(2))
    change = resampled[:, 1] - resampled[:, 0]
    differences = _intervals(values[1] - values[0], change, tail)
    return [Comparison(*row) for row in zip(names, a, b, differences, _p_values(change))]


def _resamples(n_image: int, n_resample: int, seed: int) -> Iterator[Array]:
    """The number of times that each image occurs in each resample, (n_image,) float64."""
    rng = np.random.default_rng(seed)
    for _ in range(n_resample):
        yield np.bincount(rng.integers(0, n_image, n_image), minlength=n_image).astype(np.float64)


def _intervals(values: Array, resampled: Array, tail: float) -> list[ScoreInterval]:
    intervals = []
    for value, column in zip(values.tolist(), resampled.T):
        some = column[~np.isnan(column)]
        is_known = value == value and len(column) - len(some) <= _MOST_UNDEFINED * len(column)
        # the (n + 1) q-th smallest, as p-values count: the interval excludes 0 where p is below 1 - confidence
        low, high = np.quantile(some, (tail, 1 - tail), method="weibull") if is_known else (np.nan, np.nan)
        intervals.append(ScoreInterval(value, float(low), float(high)))
    return intervals


def _p_values(change: Array) -> list[float]:
    p_values = []
    for column in change.T:
        some = column[~np.isnan(column)]
        if len(column) - len(some) > _MOST_UNDEFINED * len(column):
            p_values.append(float("nan"))
            continue
        # the observed data set counts as one of the resamples, so that no finite number of them gives 0
        one_sided = min((some <= 0).sum(), (some >= 0).sum()) + 1
        p_values.append(float(min(2 * one_sided / (some.size + 1), 1)))
    return p_values
