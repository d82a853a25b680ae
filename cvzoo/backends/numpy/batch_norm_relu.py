"""Fused batch normalization, addition and ReLU."""

import numpy as np

from cvzoo.backends.float_types import in_float32
from cvzoo.backends.numpy.normalization import batch_norm_fixed, batch_norm_grad, batch_norm_train

__all__ = ["batch_norm_relu_fixed", "batch_norm_relu_grad", "batch_norm_relu_train"]


@in_float32
def batch_norm_relu_train(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float, add: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """See `AbstractBackend.batch_norm_relu_train`; the mask is bool, in y's shape."""
    y, mean, var = batch_norm_train(x, gamma, beta, eps=eps)
    if add is not None:
        y += add
    np.maximum(y, 0, out=y)
    return y, mean, var, y > 0


@in_float32
def batch_norm_relu_fixed(
    x: np.ndarray,
    gamma: np.ndarray,
    beta: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    *,
    eps: float,
    add: np.ndarray | None = None,
) -> np.ndarray:
    """See `AbstractBackend.batch_norm_relu_fixed`."""
    y = batch_norm_fixed(x, gamma, beta, mean, var, eps=eps)
    if add is not None:
        y += add
    return np.maximum(y, 0, out=y)


@in_float32(also_rounded=3)
def batch_norm_relu_grad(
    gy: np.ndarray,
    x: np.ndarray,
    gamma: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    mask: np.ndarray,
    *,
    eps: float,
    adds: bool = False,
) -> tuple[np.ndarray, ...]:
    """See `AbstractBackend.batch_norm_relu_grad`."""
    gsum = gy * mask
    grads = batch_norm_grad(gsum, x, gamma, mean, var, eps=eps)
    return (*grads, gsum) if adds else grads
