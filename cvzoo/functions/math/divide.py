"""Division, and division rounded down."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.float_types import is_float
from cvzoo.errors.exceptions import DtypeError
from cvzoo.functions.array.broadcast_to import sum_to
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.functions.math.add import negative
from cvzoo.functions.math.elementwise import (
    SCALARS,
    Operand,
    Scalar,
    check_operands,
    of_constant,
    of_pair,
    typed_constant,
)
from cvzoo.functions.math.multiply import multiply


def _check_floating(x: Any) -> None:
    if not is_float(x.dtype):
        raise DtypeError(
            "divide: integers have no exact quotients", got=x.dtype, hint="x // y, or functions.cast first"
        )


class Divide(FunctionNode):
    def forward(self, inputs: tuple) -> tuple:
        a, b = inputs
        y = of_pair("divide", a, b)
        _check_floating(a)
        self.retain_inputs((0, 1))
        return (y,)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        a, b = self.get_retained_inputs()
        ga = divide(gys[0], b)
        return tuple([sum_to(negative(divide(multiply(ga, a), b)) if i else ga, (a, b)[i].shape) for i in indexes])


class DivideByConstant(FunctionNode):
    def __init__(self, value: Scalar):
        self.value = value

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        value = typed_constant(self.value, x, "divide")
        _check_floating(x)
        return (of_constant("divide", x, value),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return DivideByConstant(self.value).apply(gys)


class DivideConstant(FunctionNode):
    def __init__(self, value: Scalar):
        self.value = value

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        value = typed_constant(self.value, x, "divide")
        _check_floating(x)
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        return (of_constant("divide_by", x, value),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        (x,) = self.get_retained_inputs()
        (y,) = self.get_retained_outputs()
        return (negative(divide(multiply(gys[0], y), x)),)


def divide(a: Operand, b: Operand) -> Variable:
    """a / b, element by element; operands as in `add`, floating.

    Raises DtypeError if they are integers, or dtypes differ; ShapeError if shapes do not broadcast.
    """
    if isinstance(b, SCALARS):
        return DivideByConstant(b).apply((a,))[0]
    if isinstance(a, SCALARS):
        return DivideConstant(a).apply((b,))[0]
    return Divide().apply(agreed_pair(a, b))[0]


class FloorDivide(FunctionNode):
    def forward(self, inputs: tuple) -> tuple:
        a, b = inputs
        return (check_operands(a, b, "floor_divide").xp.floor_divide(a, b),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return (None,) * len(indexes)


class FloorDivideConstant(FunctionNode):
    def __init__(self, value: Scalar, *, reverse: bool):
        self.value = value
        self.reverse = reverse

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        value = typed_constant(self.value, x, "floor_divide")
        return (value // x if self.reverse else x // value,)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return (None,)


def floor_divide(a: Operand, b: Operand) -> Variable:
    """a // b, element by element; operands as in `add`. Its gradient is nothing: it is flat where it is smooth."""
    if isinstance(b, SCALARS):
        return FloorDivideConstant(b, reverse=False).apply((a,))[0]
    if isinstance(a, SCALARS):
        return FloorDivideConstant(a, reverse=True).apply((b,))[0]
    return FloorDivide().apply(agreed_pair(a, b))[0]
