"""Losses of differences: squared, absolute, Huber's and smooth L1."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.reduction import beside, check_like, check_reduce, reduced
from cvzoo.functions.math.arithmetic import absolute, multiply, subtract
from cvzoo.functions.math.extremum import clip
from cvzoo.functions.math.power import square
from cvzoo.functions.math.sum import sum
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


def _difference(x0: Variable | Array, x1: Variable | Array, function: str) -> Variable:
    x0 = widened(x0)
    x1 = widened(beside(x1, x0))
    check_like(x0, x1, function=function, names=("x0", "x1"))
    return subtract(x0, x1)


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


class HuberLoss(FunctionNode):
    """Differences d to d**2 / 2 where |d| < delta, else delta * (|d| - delta / 2)."""

    def __init__(self, delta: float):
        self._delta = delta

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (d,) = inputs
        self.retain_inputs((0,))
        return (backend_of(d).huber_loss(d, delta=self._delta),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (d,) = self.get_retained_inputs()
        return (multiply(clip(d, -self._delta, self._delta), gys[0]),)


@on_device_of_arguments
def huber_loss(
    x: Variable | Array, t: Variable | Array, delta: float, reduce: str = "sum_along_second_axis"
) -> Variable:
    """d**2 / 2 where |d| < delta, else delta * (|d| - delta / 2), for d = x - t.

    x, t: of one shape and dtype
    reduce: "sum_along_second_axis" (B, ...) of x (B, C, ...), "mean", "sum" or "no"
    Raises ShapeError or DtypeError if x and t differ, ValueRangeError if delta is not positive.
    """
    x = widened(x)
    t = widened(beside(t, x))
    check_like(x, t, function="huber_loss")
    if delta <= 0:
        raise ValueRangeError("huber_loss: delta must be positive", got=delta)
    along = reduce == "sum_along_second_axis"
    if not along:
        check_reduce(reduce, function="huber_loss")
    elif x.ndim < 2:
        raise ShapeError("huber_loss: x has no second axis", got=x.shape, hint="reduce='sum'")
    loss = HuberLoss(delta).apply((subtract(x, t),))[0]
    return sum(loss, axis=1) if along else reduced(loss, reduce, x.size)


@on_device_of_arguments
def smooth_l1(x: Variable | Array, t: Variable | Array, *, beta: float = 1.0, reduce: str = "mean") -> Variable:
    """d**2 / (2 * beta) where |d| < beta, else |d| - beta / 2, for d = x - t: a number, or x's shape.

    x, t: of one shape and dtype
    reduce: "mean", "sum" or "no"
    Raises ShapeError or DtypeError if x and t differ, ValueRangeError if beta is not positive.
    Source: Girshick, "Fast R-CNN", 2015, equation 3 (beta = 1).
    """
    loss = huber_loss(x, t, beta, reduce)
    return loss if beta == 1 else multiply(loss, 1.0 / beta)
