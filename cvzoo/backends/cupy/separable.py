"""Maps whose rows and columns are weighed: means over parts of any size."""

from typing import Any

import numpy as np

from cvzoo.backends.constants import constants
from cvzoo.backends.cupy.matmul import matmul

__all__ = ["separable_2d"]


def separable_2d(x: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """As AbstractBackend.separable_2d says; the weights are copied once."""
    b, c, h, w = x.shape
    oh, ow = len(rows), len(columns)
    y = matmul(_constant(rows.astype(x.dtype)), x.transpose(0, 2, 3, 1).reshape(b, h, w * c))  # (B, OH, W * C)
    y = matmul(_constant(columns.astype(x.dtype)), y.reshape(b * oh, w, c))  # (B * OH, OW, C)
    return y.reshape(b, oh, ow, c).transpose(0, 3, 1, 2)


def _constant(weights: np.ndarray) -> Any:
    return constants.get(("weights", weights.shape, weights.dtype.str, weights.tobytes()), lambda: weights)
