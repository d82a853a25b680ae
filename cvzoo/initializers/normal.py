"""Initializers that draw from a normal distribution, in the thread's generator (`cvzoo.set_seed`)."""

import math

from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.initializers.fans import fans
from cvzoo.typing.aliases import Array


def _fill(array: Array, scale: float) -> None:
    array[...] = random_generator().standard_normal(array.shape, "float32") * scale


class Normal:
    """Normal distribution with standard deviation `scale`."""

    def __init__(self, scale: float = 0.05):
        self.scale = scale

    def __call__(self, array: Array) -> None:
        _fill(array, self.scale)


class LeCunNormal:
    """Normal distribution with standard deviation scale * sqrt(1 / fan_in).

    Source: LeCun et al., Efficient BackProp, 1998.
    """

    def __init__(self, scale: float = 1.0):
        self.scale = scale

    def __call__(self, array: Array) -> None:
        _fill(array, self.scale * math.sqrt(1 / fans(array)[0]))


class GlorotNormal:
    """Normal distribution with standard deviation scale * sqrt(2 / (fan_in + fan_out)).

    Source: Glorot and Bengio, AISTATS 2010.
    """

    def __init__(self, scale: float = 1.0):
        self.scale = scale

    def __call__(self, array: Array) -> None:
        _fill(array, self.scale * math.sqrt(2 / sum(fans(array))))


class HeNormal:
    """Normal distribution with standard deviation scale * sqrt(2 / fan), fan by `fan_option` "fan_in" or "fan_out".

    Source: He et al., Delving Deep into Rectifiers, ICCV 2015.
    """

    def __init__(self, scale: float = 1.0, fan_option: str = "fan_in"):
        if fan_option not in ("fan_in", "fan_out"):
            raise ValueRangeError(
                "HeNormal: unknown fan_option", expected="'fan_in' or 'fan_out'", got=repr(fan_option)
            )
        self.scale = scale
        self.fan_option = fan_option

    def __call__(self, array: Array) -> None:
        fan = fans(array)[self.fan_option == "fan_out"]
        _fill(array, self.scale * math.sqrt(2 / fan))
