"""Gaussian error linear units."""

import math
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.activation.tanh import tanh
from cvzoo.functions.math.elementwise import AbstractElementwise
from cvzoo.functions.math.erf import erf
from cvzoo.functions.math.exp import exp

_SQRT_2_OVER_PI = math.sqrt(2 / math.pi)
_CUBIC = 0.044715  # the paper's fit


class GELU(AbstractElementwise):
    kind = "gelu_erf"

    def slope(self, x: Variable) -> Variable:
        return (erf(x * math.sqrt(0.5)) + 1) * 0.5 + x * exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))


class GELUByTanh(AbstractElementwise):
    kind = "gelu_tanh"

    def slope(self, x: Variable) -> Variable:
        t = tanh((x + x**3 * _CUBIC) * _SQRT_2_OVER_PI)
        return (t + 1) * 0.5 + x * (1 - t * t) * (x * x * (3 * _CUBIC) + 1) * (0.5 * _SQRT_2_OVER_PI)


def gelu(x: Variable | Any, *, approximate: bool = False) -> Variable:
    """x times the probability that a normal number is below x.

    approximate: by tanh, as networks trained so want it
    Source: Gaussian error linear units (Hendrycks and Gimpel, 2016).
    """
    return (GELUByTanh() if approximate else GELU()).apply((x,))[0]
