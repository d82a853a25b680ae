"""Rectified linear units: plain, clipped and leaky."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.math.clip import clip
from cvzoo.functions.math.elementwise import AbstractElementwiseOfOutput
from cvzoo.typing.aliases import Array


class ReLU(AbstractElementwiseOfOutput):
    kind = "relu"

    def slope(self, y: Variable) -> Any:
        array = y.array
        return (array > 0).astype(array.dtype)


def relu(x: Variable | Array) -> Variable:
    """max(x, 0); any shape, floating. The slope at 0 is taken as 0. NaN stays NaN; of -inf oneDNN may make NaN.

    Source: Rectified linear units improve restricted Boltzmann machines (Nair and Hinton, ICML 2010).
    """
    return ReLU().apply((x,))[0]


def clipped_relu(x: Variable | Array, z: float = 20.0) -> Variable:
    """min(max(x, 0), z); of NaN as `clip`.

    Raises ValueRangeError if z is negative.
    """
    return clip(x, 0.0, z)


def relu6(x: Variable | Array) -> Variable:
    """min(max(x, 0), 6); of NaN as `clip`.

    Source: MobileNetV2: inverted residuals and linear bottlenecks (Sandler et al., CVPR 2018).
    """
    return clip(x, 0.0, 6.0)


class LeakyReLU(AbstractElementwiseOfOutput):
    kind = "leaky_relu"

    def __init__(self, slope: float):
        self.alpha = slope

    def slope(self, y: Variable) -> Any:
        array = y.array
        return (array > 0) * array.dtype.type(1 - self.alpha) + array.dtype.type(self.alpha)


def leaky_relu(x: Variable | Array, slope: float = 0.2) -> Variable:
    """x where it is above 0, else slope * x.

    slope: at least 0
    Raises ValueRangeError if it is negative.
    """
    if not slope >= 0:
        raise ValueRangeError("leaky_relu: the slope must not be negative", expected="at least 0", got=slope)
    return LeakyReLU(slope).apply((x,))[0]
