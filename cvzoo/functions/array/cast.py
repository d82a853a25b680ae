"""Values in another dtype; copies."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of


class Cast(FunctionNode):
    def __init__(self, dtype: Any):
        self.dtype = dtype

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend_of(x)
        return (x.astype(self.dtype, order="K"),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return Cast(self.inputs[0].dtype).apply(gys)


class Copy(FunctionNode):
    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend_of(x)
        return (x.copy(order="K"),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return gys


def cast(x: Variable | Any, typ: Any) -> Variable:
    """x as `typ`; x itself where it is that already. Between floating dtypes the gradient is cast back."""
    x = as_variable(x)
    return x if x.dtype == typ else Cast(typ).apply((x,))[0]


def copy(x: Variable | Any) -> Variable:
    """The same values in memory of their own, laid out as x is."""
    return Copy().apply((x,))[0]
