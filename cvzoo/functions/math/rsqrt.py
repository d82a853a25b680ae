"""Reciprocals of square roots."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.elementwise import AbstractPointwise


class Rsqrt(AbstractPointwise):
    def value(self, xp: Any, x: Any) -> Any:
        return 1 / xp.sqrt(x)

    def slope(self, x: Variable) -> Variable:
        return -0.5 * rsqrt(x) / x


def rsqrt(x: Variable | Any) -> Variable:
    """1 / sqrt(x)."""
    return Rsqrt().apply((x,))[0]
