"""The sigmoid, its straight approximation, and its integral."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.math.elementwise import AbstractElementwise, AbstractElementwiseOfOutput
from cvzoo.typing.aliases import Array


class Sigmoid(AbstractElementwiseOfOutput):
    kind = "sigmoid"

    def slope(self, y: Variable) -> Variable:
        return y * (1 - y)


def sigmoid(x: Variable | Array) -> Variable:
    """1 / (1 + exp(-x))."""
    return Sigmoid().apply((x,))[0]


def _between(x: Variable, alpha: float, beta: float) -> Any:
    t = alpha * x.array + beta
    return ((t > 0) & (t < 1)).astype(x.dtype)


class HardSigmoid(AbstractElementwise):
    kind = "hard_sigmoid"
    beta = 0.5

    def __init__(self, slope: float):
        self.alpha = slope

    def slope(self, x: Variable) -> Any:
        return _between(x, self.alpha, self.beta) * x.dtype.type(self.alpha)


class HardSwish(AbstractElementwise):
    kind = "hard_swish"
    alpha = 1 / 6
    beta = 0.5

    def slope(self, x: Variable) -> Variable:
        above = (self.alpha * x.array + self.beta >= 1).astype(x.dtype)
        return (x * (2 * self.alpha) + self.beta) * _between(x, self.alpha, self.beta) + above


def hard_sigmoid(x: Variable | Array, slope: float = 0.2) -> Variable:
    """min(max(slope * x + 0.5, 0), 1); of NaN as `clip`.

    slope: 0.2 as in Chainer; 1 / 6 in MobileNetV3
    """
    return HardSigmoid(slope).apply((x,))[0]


def hard_swish(x: Variable | Array) -> Variable:
    """x * min(max(x + 3, 0), 6) / 6.

    Source: Searching for MobileNetV3 (Howard et al., ICCV 2019).
    """
    return HardSwish().apply((x,))[0]


class Softplus(AbstractElementwise):
    kind = "softplus"

    def __init__(self, beta: float):
        self.alpha = beta

    def slope(self, x: Variable) -> Variable:
        return sigmoid(x * self.alpha)


def softplus(x: Variable | Array, beta: float = 1.0) -> Variable:
    """log(1 + exp(beta * x)) / beta, without overflow.

    Raises ValueRangeError if beta is not positive.
    """
    if not beta > 0:
        raise ValueRangeError("softplus: beta must be positive", got=beta)
    return Softplus(beta).apply((x,))[0]
