"""Means of squared and of absolute differences."""

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.labels import beside, check_like
from cvzoo.functions.loss.reduced import reduced
from cvzoo.functions.math.absolute import absolute
from cvzoo.functions.math.add import subtract
from cvzoo.functions.math.power import square
from cvzoo.typing.aliases import Array


@on_device_of_arguments
def mean_absolute_error(x0: Variable | Array, x1: Variable | Array) -> Variable:
    """The mean of |x0 - x1| over all elements: a number; 0 for empty arrays.

    x0, x1: of one shape and dtype
    Raises ShapeError or DtypeError if they differ.
    """
    x0 = widened(x0)
    x1 = widened(beside(x1, x0))
    check_like(x0, x1, function="mean_absolute_error", names=("x0", "x1"))
    return reduced(absolute(subtract(x0, x1)), "mean", x0.size)


@on_device_of_arguments
def mean_squared_error(x0: Variable | Array, x1: Variable | Array) -> Variable:
    """The mean of (x0 - x1)**2 over all elements: a number; 0 for empty arrays.

    x0, x1: of one shape and dtype
    Raises ShapeError or DtypeError if they differ.
    """
    x0 = widened(x0)
    x1 = widened(beside(x1, x0))
    check_like(x0, x1, function="mean_squared_error", names=("x0", "x1"))
    return reduced(square(subtract(x0, x1)), "mean", x0.size)
