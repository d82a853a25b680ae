"""Whether a replay gave the right numbers, and numbers to find out with."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.arrays import to_numpy
from cvzoo.backends.device import device_of
from cvzoo.backends.float_types import is_half, product_dtype, widened
from cvzoo.config.switches import switches

TOLERANCE = 1e-5
TOLERANCE_ON_DEVICE = 1e-3  # libraries choose another kernel for another case
TOLERANCE_OF_HALF = 2e-2  # of numbers of 16 bits


def other_numbers(x: Any) -> Any:
    """x with other numbers of the same kind: positive ones stay positive, large ones large."""
    generator = np.random.default_rng(0)
    y = to_numpy(x).copy(order="K")
    y *= generator.uniform(0.5, 1.0, x.shape).astype(x.dtype)
    if not y.any():
        y += generator.uniform(0.5, 1.0, x.shape).astype(x.dtype)
    return device_of(x).asarray(y)


def is_close(a: Any, b: Any, tolerance: float = TOLERANCE) -> bool:
    """Whether two arrays agree within the tolerance, of each number or of b's largest; whole numbers are the same."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    a, b = to_numpy(a), to_numpy(b)
    has_fewer = product_dtype() is not None or switches.dtype == "tf32"
    if is_half(a.dtype) or (has_fewer and a.dtype == "float32"):
        # also what is float32 was made of numbers of fewer bits, which a replay may round less often
        a, b, tolerance = widened(a), widened(b), max(tolerance, TOLERANCE_OF_HALF)
    if a.dtype.kind != "f" or np.array_equal(a, b):
        return np.array_equal(a, b)
    finite = np.abs(b[np.isfinite(b)])
    scale = float(finite.max()) if finite.size else 1.0
    return np.allclose(a, b, rtol=tolerance, atol=tolerance * max(scale, 1e-30), equal_nan=True)


def are_close_on_device(arrays: Sequence[Any], wanted: Sequence[Any]) -> bool:
    """Whether arrays agree that a GPU computed in two ways which round differently.

    Within 1e-2 of each one's largest number, or 1e-5 of the largest of all: what should cancel, such as the gradient of
    a bias in front of a normalization, is nothing but rounding.
    """
    pairs = [(widened(to_numpy(a)), widened(to_numpy(b))) for a, b in zip(arrays, wanted)]
    fewer = 10 if product_dtype() is not None or switches.dtype == "tf32" else 1
    largest = max([_largest(b) for _, b in pairs], default=0.0)
    for a, b in pairs:
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        atol = fewer * max(1e-2 * _largest(b), 1e-5 * largest)
        if not np.allclose(a, b, rtol=0, atol=atol, equal_nan=True):
            return False
    return True


def _largest(array: np.ndarray) -> float:
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else 0.0
