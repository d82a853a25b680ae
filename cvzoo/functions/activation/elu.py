"""Exponential linear units."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.math.elementwise import AbstractElementwiseOfOutput

_SELU_ALPHA = 1.6732632423543772  # the fixed point of the paper's equation, for mean 0 and variance 1
_SELU_SCALE = 1.0507009873554805


class ELU(AbstractElementwiseOfOutput):
    kind = "elu"

    def __init__(self, alpha: float):
        self.alpha = alpha

    def slope(self, y: Variable) -> Variable:
        above = (y.array > 0).astype(y.dtype)
        return (y + self.alpha) * (1 - above) + above


def elu(x: Variable | Any, alpha: float = 1.0) -> Variable:
    """x where it is above 0, else alpha * (exp(x) - 1).

    alpha: at least 0
    Raises ValueRangeError if it is negative.
    Source: Fast and accurate deep network learning by exponential linear units (Clevert et al., ICLR 2016).
    """
    if not alpha >= 0:
        raise ValueRangeError("elu: alpha must not be negative", expected="at least 0", got=alpha)
    return ELU(alpha).apply((x,))[0]


def selu(x: Variable | Any, alpha: float = _SELU_ALPHA, scale: float = _SELU_SCALE) -> Variable:
    """scale * elu(x, alpha).

    Source: Self-normalizing neural networks (Klambauer et al., NIPS 2017).
    """
    return elu(x, alpha) * scale
