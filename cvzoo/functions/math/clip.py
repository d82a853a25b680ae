"""Clipping of values."""

import math
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.math.elementwise import AbstractElementwise
from cvzoo.typing.aliases import Array


class Clip(AbstractElementwise):
    kind = "clip"

    def __init__(self, low: float, high: float):
        self.alpha = low
        self.beta = high

    def slope(self, x: Variable) -> Any:
        array = x.array
        return ((array > self.alpha) & (array <= self.beta)).astype(array.dtype)


def clip(x: Variable | Array, x_min: float | None, x_max: float | None) -> Variable:
    """min(max(x, x_min), x_max); a bound that is None does not bind. The slope outside is 0.

    NaN stays NaN with NumPy; oneDNN may make one of the bounds of it.
    Raises ValueRangeError if x_min is above x_max.
    """
    low = -math.inf if x_min is None else float(x_min)
    high = math.inf if x_max is None else float(x_max)
    if not low <= high:
        raise ValueRangeError("clip: x_min must not be above x_max", got=f"{x_min} and {x_max}")
    return Clip(low, high).apply((x,))[0]
