"""Quotients rounded down."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.functions.math.operands import SCALARS, check_operands, typed_constant


class FloorDivide(FunctionNode):
    def forward(self, inputs: tuple) -> tuple:
        a, b = inputs
        return (check_operands(a, b, "floor_divide").xp.floor_divide(a, b),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return (None,) * len(indexes)


class FloorDivideConstant(FunctionNode):
    def __init__(self, value: float, *, reverse: bool):
        self.value = value
        self.reverse = reverse

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        value = typed_constant(self.value, x, "floor_divide")
        return (value // x if self.reverse else x // value,)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return (None,)


def floor_divide(a: Variable | Any, b: Variable | Any) -> Variable:
    """a // b, element by element; operands as in `add`. Its gradient is nothing: it is flat where it is smooth."""
    if isinstance(b, SCALARS):
        return FloorDivideConstant(b, reverse=False).apply((a,))[0]
    if isinstance(a, SCALARS):
        return FloorDivideConstant(a, reverse=True).apply((b,))[0]
    return FloorDivide().apply(agreed_pair(a, b))[0]
