"""Squares."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float
from cvzoo.functions.math.multiply import multiply


class Square(FunctionNode):
    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend = backend_of(x)
        self.retain_inputs((0,))
        return (backend.eltwise("square", x) if is_float(x.dtype) else x * x,)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        (x,) = self.get_retained_inputs()
        return (multiply(multiply(gys[0], 2), x),)


def square(x: Variable | Any) -> Variable:
    """x * x."""
    return Square().apply((x,))[0]
