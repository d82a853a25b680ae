"""Position embeddings for another number of patches."""

import math

import numpy as np

from cvzoo.errors.exceptions import ShapeError

_CUBIC = -0.75  # the cubic of torch and OpenCV; Pillow's is -0.5


def resized_positions(positions: np.ndarray, side: int) -> np.ndarray:
    """(1, 1 + side * side, C) of positions (1, 1 + N, C), the first of which is the class token's and stays.

    Raises ShapeError if the other N are no square.
    Source: torchvision's way: a bicubic of -0.75 whose corners are aligned.
    """
    n = positions.shape[1] - 1 if positions.ndim == 3 else 0
    old = math.isqrt(max(n, 0))
    if n < 1 or old * old != n or len(positions) != 1:
        raise ShapeError(
            "position embeddings are no square of patches", expected="(1, 1 + n * n, C)", got=positions.shape
        )
    if old == side:
        return positions
    weights = _cubic_weights(old, side)
    grid = positions[0, 1:].reshape(old, old, -1).astype(np.float64)
    grid = np.einsum("yi,xj,ijc->yxc", weights, weights, grid)
    rest = grid.reshape(1, side * side, -1).astype(positions.dtype)
    return np.concatenate([positions[:, :1], rest], axis=1)


def _cubic_weights(old: int, new: int) -> np.ndarray:
    """(new, old): what each new place takes from each old one; beyond the ends the last one counts."""
    weights = np.zeros((new, old))
    for i in range(new):
        place = i * (old - 1) / (new - 1) if new > 1 else 0.0
        first = math.floor(place)
        for k in range(first - 1, first + 3):
            weights[i, min(max(k, 0), old - 1)] += _cubic(abs(place - k))
    return weights


def _cubic(d: float) -> float:
    if d <= 1:
        return ((_CUBIC + 2) * d - (_CUBIC + 3)) * d * d + 1
    if d < 2:
        return ((_CUBIC * d - 5 * _CUBIC) * d + 8 * _CUBIC) * d - 4 * _CUBIC
    return 0.0
