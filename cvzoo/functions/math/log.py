"""Natural logarithms."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.elementwise import AbstractElementwise


class Log(AbstractElementwise):
    kind = "log"

    def slope(self, x: Variable) -> Variable:
        return 1 / x


def log(x: Variable | Any) -> Variable:
    """The natural logarithm of x; NaN for negative values, -inf for 0."""
    return Log().apply((x,))[0]
