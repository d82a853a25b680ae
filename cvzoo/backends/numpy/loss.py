"""Losses from scores and labels."""

import numpy as np
import numpy.typing as npt

from cvzoo.backends.interface import State
from cvzoo.backends.label_weights import known_and_weight, sign_and_weight
from cvzoo.backends.numpy.softmax import log_softmax

__all__ = [
    "binary_targets",
    "huber_loss",
    "mean_factor",
    "sigmoid_cross_entropy",
    "sigmoid_focal_loss",
    "sigmoid_focal_loss_grad",
    "softmax_cross_entropy",
    "softmax_cross_entropy_grad",
]


def softmax_cross_entropy(
    x: np.ndarray, t: np.ndarray, class_weight: np.ndarray | None, *, ignore_label: int
) -> tuple[np.ndarray, State]:
    """See `AbstractBackend.softmax_cross_entropy`."""
    return picked(log_softmax(x, axis=1), t, class_weight, ignore_label)


def picked(
    log_p: np.ndarray, t: np.ndarray, class_weight: np.ndarray | None, ignore_label: int
) -> tuple[np.ndarray, State]:
    """The cross entropy of log(softmax(x)), and the arrays that its gradient needs."""
    known, weight = known_and_weight(np, t, class_weight, ignore_label, log_p.dtype, log_p.shape[1])
    loss = -np.take_along_axis(log_p, known[:, None], axis=1)[:, 0] * weight
    # where() and not only a product: an ignored pixel's x may be inf or NaN
    return np.where(weight != 0, loss, log_p.dtype.type(0)), (log_p, known, weight)


def softmax_cross_entropy_grad(
    gy: np.ndarray, x: np.ndarray, t: np.ndarray, class_weight: np.ndarray | None, state: State, *, ignore_label: int
) -> np.ndarray:
    """See `AbstractBackend.softmax_cross_entropy_grad`."""
    log_p, known, weight = state
    known = known[:, None]
    gx = np.exp(log_p)
    np.put_along_axis(gx, known, np.take_along_axis(gx, known, axis=1) - 1, axis=1)
    gx *= (weight * gy)[:, None]
    if not weight.all():  # where nothing counts x may be inf or NaN, which times 0 would be NaN
        gx = np.where(weight[:, None] != 0, gx, x.dtype.type(0))
    return gx


def sigmoid_cross_entropy(x: np.ndarray, t: np.ndarray, valid: np.ndarray | None) -> np.ndarray:
    """See `AbstractBackend.sigmoid_cross_entropy`."""
    loss = np.maximum(x, 0) - x * t + np.log1p(np.exp(-np.abs(x)))
    return loss if valid is None else np.where(valid, loss, x.dtype.type(0))


def binary_targets(t: np.ndarray, dtype: npt.DTypeLike) -> np.ndarray:
    """See `AbstractBackend.binary_targets`; the caller has looked whether they are within 0 and 1."""
    return t.astype(dtype)


def _softplus(z: np.ndarray) -> np.ndarray:
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


def sigmoid_focal_loss(
    x: np.ndarray, t: np.ndarray, *, weights: tuple[float, float], gamma: float, ignore_label: int
) -> np.ndarray:
    """See `AbstractBackend.sigmoid_focal_loss`."""
    sign, weight = sign_and_weight(np, t, weights, ignore_label, x.dtype)
    z = x * sign
    # q**gamma as exp(gamma * log(q)): no 0 ** 0 and no log of an underflowed probability
    return weight * np.exp(-gamma * _softplus(z)) * _softplus(-z)


def sigmoid_focal_loss_grad(
    gy: np.ndarray, x: np.ndarray, t: np.ndarray, *, weights: tuple[float, float], gamma: float, ignore_label: int
) -> np.ndarray:
    """See `AbstractBackend.sigmoid_focal_loss_grad`."""
    sign, weight = sign_and_weight(np, t, weights, ignore_label, x.dtype)
    z = x * sign
    log_q = -_softplus(z)
    loss = _softplus(-z)  # -log(1 - q)
    slope = np.exp(gamma * log_q) * (gamma * np.exp(-loss) * loss + np.exp(log_q))
    return -gy * sign * weight * slope


def huber_loss(d: np.ndarray, *, delta: float) -> np.ndarray:
    """See `AbstractBackend.huber_loss`."""
    size = np.abs(d)
    near = np.minimum(size, d.dtype.type(delta))
    return near * (size - near / 2)


def mean_factor(valid: np.ndarray, dtype: npt.DTypeLike) -> float:
    """See `AbstractBackend.mean_factor`: a plain number."""
    return 1.0 / max(int(valid.sum()), 1)
