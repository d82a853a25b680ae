"""Softmax and its logarithm along one axis."""

import numpy as np


def softmax(x: np.ndarray, *, axis: int) -> np.ndarray:
    """As AbstractBackend.softmax says."""
    if x.size == 0:
        return x.copy()
    y = np.exp(x - x.max(axis=axis, keepdims=True))
    y /= y.sum(axis=axis, keepdims=True)
    return y


def softmax_grad(gy: np.ndarray, y: np.ndarray, *, axis: int) -> np.ndarray:
    """As AbstractBackend.softmax_grad says."""
    gx = gy * y
    gx -= y * gx.sum(axis=axis, keepdims=True)
    return gx


def log_softmax(x: np.ndarray, *, axis: int) -> np.ndarray:
    """As AbstractBackend.log_softmax says."""
    if x.size == 0:
        return x.copy()
    y = x - x.max(axis=axis, keepdims=True)
    y -= np.log(np.exp(y).sum(axis=axis, keepdims=True))
    return y


def log_softmax_grad(gy: np.ndarray, y: np.ndarray, *, axis: int) -> np.ndarray:
    """As AbstractBackend.log_softmax_grad says."""
    return gy - np.exp(y) * gy.sum(axis=axis, keepdims=True)
