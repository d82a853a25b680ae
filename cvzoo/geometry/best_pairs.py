"""The best of very many scores, without sorting them all."""

import math

import numpy as np

from cvzoo.backends.in_threads import in_threads
from cvzoo.errors.exceptions import ShapeError, ValueRangeError

_STRIP = 1 << 19  # scores that a thread looks at at a time


def best_pairs(score: np.ndarray, limit: int, *, above: float = -math.inf) -> np.ndarray:
    """The places in score.ravel() of its `limit` greatest numbers, best first, of equals the first.

    score: (R, L) real, such as R boxes and L classes
    limit: how many at most, positive
    above: only what is greater counts; NaN never does
    Returns (K,) int64, K <= limit.
    Raises ShapeError if score is not (R, L), ValueRangeError for the limit.

    A row's greatest number bounds all of it: the `limit`-th greatest of the rows' maxima is a bound that at least
    `limit` pairs reach, so only rows that reach it are looked at closely. That makes it linear.
    """
    if score.ndim != 2:
        raise ShapeError("best_pairs: score", expected="(R, L)", got=score.shape)
    if limit < 1:
        raise ValueRangeError("best_pairs: limit must be positive", got=limit)
    n_row, n_column = score.shape
    if not score.size:
        return np.zeros(0, np.int64)
    best = np.empty(n_row, score.dtype)
    step = max(_STRIP // n_column, 1)
    in_threads(
        [slice(k, k + step) for k in range(0, n_row, step)], lambda rows: score[rows].max(axis=1, out=best[rows])
    )
    if np.isnan(best).any():
        best = np.nan_to_num(np.fmax.reduce(score, axis=1), nan=-np.inf)
    reached = best > above
    bound = -np.inf
    if n_row > limit:
        bound = np.partition(best, n_row - limit)[n_row - limit]
        reached &= best >= bound
    row = np.flatnonzero(reached)
    part = score[row]
    place = np.flatnonzero((part > above) & (part >= bound))
    value = part.ravel()[place]
    index = row[place // n_column] * n_column + place % n_column
    return index[np.argsort(-value, kind="stable")[:limit]]
