"""Sine, cosine and tangent: each is made of the others' derivatives."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.elementwise import AbstractPointwise


class Sin(AbstractPointwise):
    def value(self, xp: Any, x: Any) -> Any:
        return xp.sin(x)

    def slope(self, x: Variable) -> Variable:
        return cos(x)


class Cos(AbstractPointwise):
    def value(self, xp: Any, x: Any) -> Any:
        return xp.cos(x)

    def slope(self, x: Variable) -> Variable:
        return -sin(x)


class Tan(AbstractPointwise):
    def value(self, xp: Any, x: Any) -> Any:
        return xp.tan(x)

    def slope(self, x: Variable) -> Variable:
        return 1 + tan(x) ** 2


def sin(x: Variable | Any) -> Variable:
    """The sine of x, in radians."""
    return Sin().apply((x,))[0]


def cos(x: Variable | Any) -> Variable:
    """The cosine of x, in radians."""
    return Cos().apply((x,))[0]


def tan(x: Variable | Any) -> Variable:
    """The tangent of x, in radians."""
    return Tan().apply((x,))[0]
