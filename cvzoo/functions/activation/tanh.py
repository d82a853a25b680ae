"""The hyperbolic tangent."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.elementwise import AbstractElementwiseOfOutput


class Tanh(AbstractElementwiseOfOutput):
    kind = "tanh"

    def slope(self, y: Variable) -> Variable:
        return 1 - y * y


def tanh(x: Variable | Any) -> Variable:
    """The hyperbolic tangent of x."""
    return Tanh().apply((x,))[0]
