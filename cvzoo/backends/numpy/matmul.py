"""Products of matrices."""

import numpy as np


def matmul(a: np.ndarray, b: np.ndarray, *, scale: float = 1.0, add: np.ndarray | None = None) -> np.ndarray:
    """As AbstractBackend.matmul says."""
    y = np.matmul(a, b)
    if scale != 1:
        y = y * float(scale)
    return y if add is None else y + add


def linear(x: np.ndarray, w: np.ndarray, b: np.ndarray | None, *, pack: dict | None = None) -> np.ndarray:
    """As AbstractBackend.linear says; `pack` is left as it is."""
    y = x @ w.T
    if b is not None:
        y += b
    return y
