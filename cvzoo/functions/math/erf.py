"""The error function."""

import math
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.erf import erf as erf_of_array
from cvzoo.functions.math.elementwise import AbstractPointwise
from cvzoo.functions.math.exponential import exp
from cvzoo.typing.aliases import Array


class Erf(AbstractPointwise):
    def value(self, xp: Any, x: Any) -> Any:
        return erf_of_array(x)

    def slope(self, x: Variable) -> Variable:
        return exp(-(x * x)) * (2 / math.sqrt(math.pi))


def erf(x: Variable | Array) -> Variable:
    """2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x."""
    return Erf().apply((x,))[0]
