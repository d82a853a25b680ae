"""Products of matrices."""

import numpy as np

from cvzoo.backends.in_float32 import in_float32

__all__ = ["linear", "matmul"]


@in_float32
def matmul(a: np.ndarray, b: np.ndarray, *, scale: float = 1.0, add: np.ndarray | None = None) -> np.ndarray:
    """As AbstractBackend.matmul says."""
    y = np.matmul(a, b)
    if scale != 1:
        y = y * float(scale)
    return y if add is None else y + add


@in_float32
def linear(x: np.ndarray, w: np.ndarray, b: np.ndarray | None, *, pack: dict | None = None) -> np.ndarray:
    """As AbstractBackend.linear says; `pack` is left as it is."""
    y = x @ w.T
    if b is not None:
        y += b
    return y
