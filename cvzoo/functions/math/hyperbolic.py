"""Hyperbolic sine and cosine; the tangent is an activation."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.elementwise import AbstractPointwise


class Sinh(AbstractPointwise):
    def value(self, xp: Any, x: Any) -> Any:
        return xp.sinh(x)

    def slope(self, x: Variable) -> Variable:
        return cosh(x)


class Cosh(AbstractPointwise):
    def value(self, xp: Any, x: Any) -> Any:
        return xp.cosh(x)

    def slope(self, x: Variable) -> Variable:
        return sinh(x)


def sinh(x: Variable | Any) -> Variable:
    """The hyperbolic sine of x."""
    return Sinh().apply((x,))[0]


def cosh(x: Variable | Any) -> Variable:
    """The hyperbolic cosine of x."""
    return Cosh().apply((x,))[0]
