"""Logarithms to base 10."""

import math
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.elementwise import AbstractPointwise


class Log10(AbstractPointwise):
    def value(self, xp: Any, x: Any) -> Any:
        return xp.log10(x)

    def slope(self, x: Variable) -> Variable:
        return (1 / math.log(10)) / x


def log10(x: Variable | Any) -> Variable:
    """The logarithm of x to base 10."""
    return Log10().apply((x,))[0]
