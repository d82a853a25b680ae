"""The rectifier with a slope below 0."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.math.elementwise import AbstractElementwiseOfOutput


class LeakyReLU(AbstractElementwiseOfOutput):
    kind = "leaky_relu"

    def __init__(self, slope: float):
        self.alpha = slope

    def slope(self, y: Variable) -> Any:
        array = y.array
        return (array > 0) * array.dtype.type(1 - self.alpha) + array.dtype.type(self.alpha)


def leaky_relu(x: Variable | Any, slope: float = 0.2) -> Variable:
    """x where it is above 0, else slope * x.

    slope: at least 0
    Raises ValueRangeError if it is negative.
    """
    if not slope >= 0:
        raise ValueRangeError("leaky_relu: the slope must not be negative", expected="at least 0", got=slope)
    return LeakyReLU(slope).apply((x,))[0]
