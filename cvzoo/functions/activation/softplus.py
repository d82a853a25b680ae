"""The smooth rectifier."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.activation.sigmoid import sigmoid
from cvzoo.functions.math.elementwise import AbstractElementwise


class Softplus(AbstractElementwise):
    kind = "softplus"

    def __init__(self, beta: float):
        self.alpha = beta

    def slope(self, x: Variable) -> Variable:
        return sigmoid(x * self.alpha)


def softplus(x: Variable | Any, beta: float = 1.0) -> Variable:
    """log(1 + exp(beta * x)) / beta, without overflow.

    Raises ValueRangeError if beta is not positive.
    """
    if not beta > 0:
        raise ValueRangeError("softplus: beta must be positive", got=beta)
    return Softplus(beta).apply((x,))[0]
