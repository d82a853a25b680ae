"""The exponential function."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.elementwise import AbstractElementwiseOfOutput


class Exp(AbstractElementwiseOfOutput):
    kind = "exp"

    def slope(self, y: Variable) -> Variable:
        return y


def exp(x: Variable | Any) -> Variable:
    """e to the power of x. NaN stays NaN with NumPy; oneDNN may make inf of it."""
    return Exp().apply((x,))[0]
