"""The exponential function less 1, exact near 0."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.elementwise import AbstractPointwise
from cvzoo.functions.math.exp import exp


class Expm1(AbstractPointwise):
    def value(self, xp: Any, x: Any) -> Any:
        return xp.expm1(x)

    def slope(self, x: Variable) -> Variable:
        return exp(x)


def expm1(x: Variable | Any) -> Variable:
    """exp(x) - 1."""
    return Expm1().apply((x,))[0]
