"""Fused batch normalization, addition and ReLU in one pass over memory, for replayed training steps."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.backends.dispatch import backend_of
from cvzoo.typing.aliases import Array


class BatchNormalizationReLU(FunctionNode):
    """x (B, C, ...), gamma (C,), beta (C,) and perhaps an addend like x, to y, mean (C,), var (C,), mask.

    It is never part of a graph that is differentiated. mask: where y > 0, in the backend's format.
    What is NaN before relu may be 0 behind it.
    """

    def __init__(self, eps: float):
        self._eps = eps

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gamma, beta, *addends = inputs
        add = addends[0] if addends else None
        return backend_of(x).batch_norm_relu_train(x, gamma, beta, eps=self._eps, add=add)


class BatchNormalizationReLUGrad(FunctionNode):
    """x, gamma, gy, mean, var, mask to gx, ggamma, gbeta. It is never part of a graph that is differentiated.

    adds: whether it gives the gradient of an addend, too
    """

    def __init__(self, eps: float, adds: bool = False):
        self._eps = eps
        self._adds = adds

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gamma, gy, mean, var, mask = inputs
        return backend_of(x).batch_norm_relu_grad(gy, x, gamma, mean, var, mask, eps=self._eps, adds=self._adds)


class FixedBatchNormalizationReLU(FunctionNode):
    """x, gamma, beta, perhaps an addend, mean, var to y: BatchNormalizationReLU's y again.

    It is never part of a graph that is differentiated.
    """

    def __init__(self, eps: float):
        self._eps = eps

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gamma, beta, *addends, mean, var = inputs
        add = addends[0] if addends else None
        return (backend_of(x).batch_norm_relu_fixed(x, gamma, beta, mean, var, eps=self._eps, add=add),)
