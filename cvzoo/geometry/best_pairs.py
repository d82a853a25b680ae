"""The best of very many scores, without sorting them all."""

import math

import numpy as np

from cvzoo.backends.numpy.selection import best_pairs as kernel
from cvzoo.errors.exceptions import ShapeError, ValueRangeError


def best_pairs(score: np.ndarray, limit: int, *, above: float = -math.inf) -> np.ndarray:
    """The places in score.ravel() of its `limit` greatest numbers, best first, of equals the first.

    score: (R, L) real, such as R boxes and L classes
    limit: how many at most, positive
    above: only what is greater counts; NaN never does
    Returns (K,) int64, K <= limit.
    Raises ShapeError if score is not (R, L), ValueRangeError for the limit.
    Takes time linear in R * L.
    """
    if score.ndim != 2:
        raise ShapeError("best_pairs: score", expected="(R, L)", got=score.shape)
    if limit < 1:
        raise ValueRangeError("best_pairs: limit must be positive", got=limit)
    return kernel(score, limit, above=above)
