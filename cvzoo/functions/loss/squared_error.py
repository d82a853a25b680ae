"""Squared and absolute differences, element by element."""

from typing import Any

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.labels import beside, check_like
from cvzoo.functions.math.absolute import absolute
from cvzoo.functions.math.add import subtract
from cvzoo.functions.math.power import square
from cvzoo.typing.aliases import Array


@on_device_of_arguments
def squared_error(x0: Variable | Array, x1: Variable | Array) -> Variable:
    """(x0 - x1)**2, element by element; `mean_squared_error` is its mean.

    x0, x1: of one shape and dtype
    Raises ShapeError or DtypeError if they differ.
    """
    return square(_difference(x0, x1, "squared_error"))


@on_device_of_arguments
def absolute_error(x0: Variable | Array, x1: Variable | Array) -> Variable:
    """|x0 - x1|, element by element; `mean_absolute_error` is its mean.

    x0, x1: of one shape and dtype
    Raises ShapeError or DtypeError if they differ.
    """
    return absolute(_difference(x0, x1, "absolute_error"))


def _difference(x0: Any, x1: Any, function: str) -> Variable:
    x0 = widened(x0)
    x1 = widened(beside(x1, x0))
    check_like(x0, x1, function=function, names=("x0", "x1"))
    return subtract(x0, x1)
