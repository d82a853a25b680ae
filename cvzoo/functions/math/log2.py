"""Logarithms to base 2."""

import math
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.elementwise import AbstractPointwise


class Log2(AbstractPointwise):
    def value(self, xp: Any, x: Any) -> Any:
        return xp.log2(x)

    def slope(self, x: Variable) -> Variable:
        return (1 / math.log(2)) / x


def log2(x: Variable | Any) -> Variable:
    """The logarithm of x to base 2."""
    return Log2().apply((x,))[0]
