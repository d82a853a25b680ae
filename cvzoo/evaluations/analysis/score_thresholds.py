"""The score of each class below which detections are better dropped."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError


@dataclasses.dataclass(frozen=True, eq=False)
class ScoreThresholds:
    """(L,) float64 columns: the threshold of each class and what it reaches; all NaN where there is none."""

    threshold: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray


def calc_score_thresholds(curves, *, precision=None) -> ScoreThresholds:
    """The threshold of each class that maximises F1, or that finds most at a wished precision.

    curves: L PRCurves
    precision: None for F1; else in (0, 1], what must be reached
    Of equally good thresholds the highest is given. A class without objects, without a right detection, or that never
    reaches the precision has NaN.
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
