"""Batch normalization and the rectifier behind it in one pass over memory: what a replayed training step computes."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.backends.dispatch import backend_of


class BatchNormalizationReLU(FunctionNode):
    """x (B, C, ...), gamma (C,), beta (C,) to y, mean (C,), var (C,), mask. It is never part of a graph.

    mask says in the backend's own way where y > 0. What is NaN before relu may be 0 behind it.
    """

    def __init__(self, eps: float):
        self._eps = eps

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, gamma, beta = inputs
        return backend_of(x).batch_norm_relu_train(x, gamma, beta, eps=self._eps)


class BatchNormalizationReLUGrad(FunctionNode):
    """x, gamma, gy, mean, var, mask to gx, ggamma, gbeta. It is never part of a graph."""

    def __init__(self, eps: float):
        self._eps = eps

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, gamma, gy, mean, var, mask = inputs
        return backend_of(x).batch_norm_relu_grad(gy, x, gamma, mean, var, mask, eps=self._eps)


class FixedBatchNormalizationReLU(FunctionNode):
    """x, gamma, beta, mean, var to y: BatchNormalizationReLU's y again. It is never part of a graph."""

    def __init__(self, eps: float):
        self._eps = eps

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, gamma, beta, mean, var = inputs
        return (backend_of(x).batch_norm_relu_fixed(x, gamma, beta, mean, var, eps=self._eps),)
