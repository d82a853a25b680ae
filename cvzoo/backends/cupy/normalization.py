"""Batch, layer and local response normalization."""

from typing import Any

from cvzoo.backends.cuda.batch_norm import batch_norm_apply, batch_norm_gradients, batch_norm_learn
from cvzoo.backends.cuda.layer_norm import layer_norm_forward, layer_norm_gradients
from cvzoo.backends.cuda.response_norm import response_norm, response_norm_gradient

__all__ = [
    "batch_norm_fixed",
    "batch_norm_grad",
    "batch_norm_train",
    "layer_norm",
    "layer_norm_grad",
    "local_response_norm",
    "local_response_norm_grad",
]


def batch_norm_train(x: Any, gamma: Any, beta: Any, *, eps: float) -> tuple[Any, Any, Any]:
    """As AbstractBackend.batch_norm_train says."""
    return batch_norm_learn(x, gamma, beta, eps=eps)[:3]


def batch_norm_fixed(x: Any, gamma: Any, beta: Any, mean: Any, var: Any, *, eps: float) -> Any:
    """As AbstractBackend.batch_norm_fixed says."""
    return batch_norm_apply(x, gamma, beta, mean, var, eps=eps)


def batch_norm_grad(gy: Any, x: Any, gamma: Any, mean: Any, var: Any, *, eps: float) -> tuple[Any, Any, Any]:
    """As AbstractBackend.batch_norm_grad says."""
    return batch_norm_gradients(gy, x, gamma, mean, var, eps=eps)[:3]


def layer_norm(x: Any, gamma: Any, beta: Any, *, eps: float) -> tuple[Any, Any, Any]:
    """As AbstractBackend.layer_norm says."""
    return layer_norm_forward(x, gamma, beta, eps=eps)


def layer_norm_grad(gy: Any, x: Any, gamma: Any, mean: Any, var: Any, *, eps: float) -> tuple[Any, Any, Any]:
    """As AbstractBackend.layer_norm_grad says."""
    return layer_norm_gradients(gy, x, gamma, mean, var, eps=eps)


def local_response_norm(x: Any, *, n: int, k: float, alpha: float, beta: float) -> Any:
    """As AbstractBackend.local_response_norm says; of an even n, one more channel lies below than above."""
    return response_norm(x, n=n, k=k, alpha=alpha, beta=beta)


def local_response_norm_grad(gy: Any, x: Any, *, n: int, k: float, alpha: float, beta: float) -> Any:
    """As AbstractBackend.local_response_norm_grad says."""
    return response_norm_gradient(gy, x, n=n, k=k, alpha=alpha, beta=beta)
