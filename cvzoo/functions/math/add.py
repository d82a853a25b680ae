"""Sums and differences of two arrays, and the negative: each is made of the others' derivatives."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import DtypeError
from cvzoo.functions.array.broadcast_to import sum_to
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.functions.math.elementwise import (
    SCALARS,
    Operand,
    Scalar,
    check_operands,
    of_constant,
    of_pair,
    typed_constant,
)


class Add(FunctionNode):
    def forward(self, inputs: tuple) -> tuple:
        a, b = inputs
        return (check_operands(a, b, "add").add(a, b),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return tuple([sum_to(gys[0], self.inputs[i].shape) for i in indexes])


class AddConstant(FunctionNode):
    def __init__(self, value: Scalar):
        self.value = value

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        return (of_constant("add", x, typed_constant(self.value, x, "add")),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return gys


class Subtract(FunctionNode):
    def forward(self, inputs: tuple) -> tuple:
        a, b = inputs
        return (of_pair("subtract", a, b),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        (gy,) = gys
        return tuple([sum_to(negative(gy) if i else gy, self.inputs[i].shape) for i in indexes])


class SubtractConstant(FunctionNode):
    def __init__(self, value: Scalar):
        self.value = value

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        return (of_constant("subtract", x, typed_constant(self.value, x, "subtract")),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return gys


class SubtractFromConstant(FunctionNode):
    def __init__(self, value: Scalar):
        self.value = value

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        return (of_constant("subtract_from", x, typed_constant(self.value, x, "subtract")),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return (negative(gys[0]),)


class Negative(FunctionNode):
    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend_of(x)
        if x.dtype.kind == "b":
            raise DtypeError("negative: truth values have no negative", got=x.dtype, hint="~x.array")
        return (-x,)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return (negative(gys[0]),)


def add(a: Operand, b: Operand, *more: Operand) -> Variable:
    """a + b, and so on with `more`; shapes broadcast.

    a, b: arrays of one dtype, or one of them a number, which takes the other's dtype
    Raises DtypeError if dtypes differ, ShapeError if shapes do not broadcast.
    """
    if isinstance(b, SCALARS):
        y = AddConstant(b).apply((a,))[0]
    elif isinstance(a, SCALARS):
        y = AddConstant(a).apply((b,))[0]
    else:
        y = Add().apply(agreed_pair(a, b))[0]
    for x in more:
        y = add(y, x)
    return y


def subtract(a: Operand, b: Operand) -> Variable:
    """a - b; operands as in `add`."""
    if isinstance(b, SCALARS):
        return SubtractConstant(b).apply((a,))[0]
    if isinstance(a, SCALARS):
        return SubtractFromConstant(a).apply((b,))[0]
    return Subtract().apply(agreed_pair(a, b))[0]


def negative(x: Operand) -> Variable:
    """-x."""
    return Negative().apply((x,))[0]


class AddReLU(FunctionNode):
    """a and b of one shape to max(a + b, 0). It is never part of a graph.

    What is NaN before relu may be 0 behind it.
    """

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        a, b = inputs
        return (backend_of(a).add_relu(a, b),)
