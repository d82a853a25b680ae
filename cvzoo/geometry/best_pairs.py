"""Top-k selection from a large array of scores without a full sort."""

import math

from cvzoo.backends.numpy.detection import best_pairs as kernel
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array


def best_pairs(score: Array, limit: int, *, above: float = -math.inf) -> Array:
    """Indices into score.ravel() of the `limit` highest scores, highest first; ties go to the lower index.

    score: (R, L) real, such as R boxes and L classes
    limit: maximum number of indices, positive
    above: only scores greater than this are selected; NaN never is
    Returns (K,) int64, K <= limit.
    Raises ShapeError if score is not (R, L), ValueRangeError for the limit.
    The time is linear in R * L.
    """
    if score.ndim != 2:
        raise ShapeError("best_pairs: score must be (R, L)", got=score.shape)
    if limit < 1:
        raise ValueRangeError("best_pairs: limit must be positive", got=limit)
    return kernel(score, limit, above=above)
