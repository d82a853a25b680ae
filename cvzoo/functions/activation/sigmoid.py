"""The logistic function."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.elementwise import AbstractElementwiseOfOutput


class Sigmoid(AbstractElementwiseOfOutput):
    kind = "sigmoid"

    def slope(self, y: Variable) -> Variable:
        return y * (1 - y)


def sigmoid(x: Variable | Any) -> Variable:
    """1 / (1 + exp(-x))."""
    return Sigmoid().apply((x,))[0]
