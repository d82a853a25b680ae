"""Softmax and its logarithm along one axis."""

import numpy as np

from cvzoo.backends.float_types import in_float32
from cvzoo.backends.sums import sum_along

__all__ = ["log_softmax", "log_softmax_grad", "softmax", "softmax_grad"]


def _sum(x: np.ndarray, axis: int) -> np.ndarray:
    return sum_along(x, (axis % x.ndim,), keepdims=True)


@in_float32
def softmax(x: np.ndarray, *, axis: int) -> np.ndarray:
    """See `AbstractBackend.softmax`."""
    if x.size == 0:
        return x.copy()
    y = x - x.max(axis=axis, keepdims=True)
    # in place, since new memory costs as much as the rest; integers become float64
    y = np.exp(y, out=y if y.dtype.kind == "f" else None)
    y /= _sum(y, axis)
    return y


@in_float32
def softmax_grad(gy: np.ndarray, y: np.ndarray, *, axis: int) -> np.ndarray:
    """See `AbstractBackend.softmax_grad`."""
    gx = gy * y
    gx -= y * _sum(gx, axis)
    return gx


@in_float32
def log_softmax(x: np.ndarray, *, axis: int) -> np.ndarray:
    """See `AbstractBackend.log_softmax`."""
    if x.size == 0:
        return x.copy()
    y = x - x.max(axis=axis, keepdims=True)
    y -= np.log(_sum(np.exp(y), axis))
    return y


@in_float32
def log_softmax_grad(gy: np.ndarray, y: np.ndarray, *, axis: int) -> np.ndarray:
    """See `AbstractBackend.log_softmax_grad`."""
    return gy - np.exp(y) * _sum(gy, axis)
