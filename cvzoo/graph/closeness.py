"""Whether a replay gave the right numbers, and numbers to find out with."""

import numpy as np

TOLERANCE = 1e-5


def other_numbers(x: np.ndarray) -> np.ndarray:
    """x with other numbers of the same kind: positive ones stay positive, large ones large."""
    generator = np.random.default_rng(0)
    y = x.copy(order="K")
    y *= generator.uniform(0.5, 1.0, x.shape).astype(x.dtype)
    if not y.any():
        y += generator.uniform(0.5, 1.0, x.shape).astype(x.dtype)
    return y


def is_close(a: np.ndarray, b: np.ndarray, tolerance: float = TOLERANCE) -> bool:
    """Whether two arrays agree within the tolerance, of each number or of b's largest; whole numbers are the same."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind != "f" or np.array_equal(a, b):
        return np.array_equal(a, b)
    finite = np.abs(b[np.isfinite(b)])
    scale = float(finite.max()) if finite.size else 1.0
    return np.allclose(a, b, rtol=tolerance, atol=tolerance * max(scale, 1e-30), equal_nan=True)
