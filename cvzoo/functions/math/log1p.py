"""The logarithm of 1 + x, exact near 0."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.elementwise import AbstractPointwise


class Log1p(AbstractPointwise):
    def value(self, xp: Any, x: Any) -> Any:
        return xp.log1p(x)

    def slope(self, x: Variable) -> Variable:
        return 1 / (x + 1)


def log1p(x: Variable | Any) -> Variable:
    """log(1 + x)."""
    return Log1p().apply((x,))[0]
