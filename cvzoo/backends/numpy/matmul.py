"""Matrix products, and separable filters by them."""

import numpy as np

from cvzoo.backends.float_types import in_float32

__all__ = ["linear", "matmul", "separable_2d"]


@in_float32
def matmul(a: np.ndarray, b: np.ndarray, *, scale: float = 1.0, add: np.ndarray | None = None) -> np.ndarray:
    """See `AbstractBackend.matmul`."""
    y = np.matmul(a, b)
    if scale != 1:
        y = y * float(scale)
    return y if add is None else y + add


@in_float32
def linear(x: np.ndarray, w: np.ndarray, b: np.ndarray | None, *, pack: dict | None = None) -> np.ndarray:
    """See `AbstractBackend.linear`; `pack` is left as it is."""
    y = x @ w.T
    if b is not None:
        y += b
    return y


def separable_2d(x: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """See `AbstractBackend.separable_2d`."""
    b, c, h, w = x.shape
    oh, ow = len(rows), len(columns)
    y = np.matmul(rows.astype(x.dtype), x.transpose(0, 2, 3, 1).reshape(b, h, w * c))  # (B, OH, W * C)
    y = np.matmul(columns.astype(x.dtype), y.reshape(b * oh, w, c))  # (B * OH, OW, C)
    return y.reshape(b, oh, ow, c).transpose(0, 3, 1, 2)
