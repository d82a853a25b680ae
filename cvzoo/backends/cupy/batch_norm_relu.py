"""Batch normalization, a sum and the rectifier behind it, in one pass."""

from typing import Any

from cvzoo.backends.cuda.batch_norm import batch_norm_apply, batch_norm_gradients, batch_norm_learn

__all__ = ["batch_norm_relu_fixed", "batch_norm_relu_grad", "batch_norm_relu_train"]


def batch_norm_relu_train(
    x: Any, gamma: Any, beta: Any, *, eps: float, add: Any | None = None
) -> tuple[Any, Any, Any, Any]:
    """As AbstractBackend.batch_norm_relu_train says; the mask has one bit a number. NaN stays NaN."""
    return batch_norm_learn(x, gamma, beta, eps=eps, add=add, relu=True)


def batch_norm_relu_fixed(
    x: Any, gamma: Any, beta: Any, mean: Any, var: Any, *, eps: float, add: Any | None = None
) -> Any:
    """As AbstractBackend.batch_norm_relu_fixed says. NaN stays NaN."""
    return batch_norm_apply(x, gamma, beta, mean, var, eps=eps, add=add, relu=True)


def batch_norm_relu_grad(
    gy: Any, x: Any, gamma: Any, mean: Any, var: Any, mask: Any, *, eps: float, adds: bool = False
) -> tuple[Any, ...]:
    """As AbstractBackend.batch_norm_relu_grad says."""
    found = batch_norm_gradients(gy, x, gamma, mean, var, eps=eps, mask=mask, adds=adds)
    return found if adds else found[:3]
