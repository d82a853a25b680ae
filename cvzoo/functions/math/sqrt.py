"""Square roots."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.elementwise import AbstractElementwiseOfOutput


class Sqrt(AbstractElementwiseOfOutput):
    kind = "sqrt"

    def slope(self, y: Variable) -> Variable:
        return 0.5 / y


def sqrt(x: Variable | Any) -> Variable:
    """The square root of x; NaN for negative values. The slope at 0 is infinite."""
    return Sqrt().apply((x,))[0]
