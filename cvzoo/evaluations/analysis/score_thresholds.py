"""Score thresholds of each class."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.analysis.pr_curves import PRCurve
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, eq=False)
class ScoreThresholds:
    """The score threshold of each class with its precision, recall and F1, (L,) float64; NaN without a threshold."""

    threshold: Array
    precision: Array
    recall: Array
    f1: Array


def calc_score_thresholds(curves: Sequence[PRCurve], *, precision: float | None = None) -> ScoreThresholds:
    """The threshold of each class that maximizes F1, or the recall at a minimum precision.

    curves: L PRCurves
    precision: None for F1; else the minimum precision, in (0, 1]
    Of equally good thresholds the highest is returned. NaN for a class without objects, without true positives, or that
    never reaches the precision.
    Raises ValueRangeError if precision is out of range.
    """
    if precision is not None and not 0 < precision <= 1:
        raise ValueRangeError("precision must be above 0 and at most 1", got=precision)
    rows = np.full((len(curves), 4), np.nan)
    for l, curve in enumerate(curves):
        if curve.n_positive == 0:
            continue
        good = curve.f1 if precision is None else np.where(curve.precision >= precision, curve.recall, 0)
        if len(good) == 0 or good.max() <= 0:
            continue
        best = int(good.argmax())
        rows[l] = curve.score[best], curve.precision[best], curve.recall[best], curve.f1[best]
    return ScoreThresholds(*rows.T)
