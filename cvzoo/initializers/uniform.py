"""Initializers that draw from a uniform distribution, in the thread's generator (`cvzoo.set_seed`)."""

import math

from cvzoo.config.randomness import random_generator
from cvzoo.initializers.fans import fans
from cvzoo.typing.aliases import Array


def _fill(array: Array, scale: float) -> None:
    array[...] = random_generator().uniform(-scale, scale, array.shape)


class Uniform:
    """Uniform distribution between -scale and scale."""

    def __init__(self, scale: float = 0.05):
        self.scale = scale

    def __call__(self, array: Array) -> None:
        _fill(array, self.scale)


class LeCunUniform:
    """Uniform distribution between -s and s, s = scale * sqrt(3 / fan_in)."""

    def __init__(self, scale: float = 1.0):
        self.scale = scale

    def __call__(self, array: Array) -> None:
        _fill(array, self.scale * math.sqrt(3 / fans(array)[0]))


class GlorotUniform:
    """Uniform distribution between -s and s, s = scale * sqrt(6 / (fan_in + fan_out)).

    Source: Glorot and Bengio, AISTATS 2010.
    """

    def __init__(self, scale: float = 1.0):
        self.scale = scale

    def __call__(self, array: Array) -> None:
        _fill(array, self.scale * math.sqrt(6 / sum(fans(array))))


class HeUniform:
    """Uniform distribution between -s and s, s = scale * sqrt(6 / fan_in). Source: He et al., ICCV 2015."""

    def __init__(self, scale: float = 1.0):
        self.scale = scale

    def __call__(self, array: Array) -> None:
        _fill(array, self.scale * math.sqrt(6 / fans(array)[0]))
