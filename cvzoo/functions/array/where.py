"""Choosing between two arrays, element by element."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.functions.array.broadcast_to import sum_to
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.typing.aliases import Array


class Where(FunctionNode):
    in_float32 = True  # no array module's `where` need know bfloat16

    def __init__(self, condition: Any):
        self.condition = condition

    def forward(self, inputs: tuple) -> tuple:
        x, y = inputs
        xp = backend_of(x).xp
        backend_of(y)
        if x.dtype != y.dtype:
            raise DtypeError("where: both sides must have one dtype", got=f"{x.dtype} and {y.dtype}")
        try:
            return (xp.where(self.condition, x, y),)
        except ValueError:
            raise ShapeError(
                "where: the shapes do not broadcast",
                expected="equal sizes, or 1, axis by axis from the last",
                got=f"condition {self.condition.shape}, x {x.shape}, y {y.shape}",
            ) from None

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        # where() and not a product with zeros: an infinite gradient of the side not chosen must not give NaN
        return tuple([sum_to(Keep(self.condition, bool(i)).apply(gys)[0], self.inputs[i].shape) for i in indexes])


class Keep(FunctionNode):
    """x where the condition holds (or, `negated`, does not), else 0."""

    in_float32 = True

    def __init__(self, condition: Any, negated: bool):
        self.condition = condition
        self.negated = negated

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        xp = backend_of(x).xp
        zero = x.dtype.type(0)
        return (xp.where(self.condition, zero, x) if self.negated else xp.where(self.condition, x, zero),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return Keep(self.condition, self.negated).apply(gys)


def where(condition: Variable | Array | bool, x: Variable | Array | float, y: Variable | Array | float) -> Variable:
    """x where the condition holds, else y; shapes broadcast.

    condition: bool; no gradient
    x, y: arrays of one dtype, or one of them a number
    Raises DtypeError if the condition is not bool or dtypes differ, ShapeError if shapes do not broadcast.
    """
    mask: Any = as_array(condition)
    xp = backend_of(mask).xp
    if mask.dtype.kind != "b":
        raise DtypeError("where: the condition must be bool", got=mask.dtype, hint="condition != 0")
    first: Any = x
    second: Any = y
    if isinstance(first, int | float):
        first = xp.asarray(first, second.dtype)
    elif isinstance(second, int | float):
        second = xp.asarray(second, first.dtype)
    return Where(mask).apply(agreed_pair(first, second))[0]
