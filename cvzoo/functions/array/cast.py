"""Values in another dtype."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.typing.aliases import Array


class Cast(FunctionNode):
    def __init__(self, dtype: Any):
        self.dtype = dtype

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        backend_of(x)
        return (x.astype(self.dtype, order="K"),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return Cast(self.inputs[0].dtype).apply(gys)


def cast(x: Variable | Array, typ: Any) -> Variable:
    """x as `typ`; x itself where it is that already. Between floating dtypes the gradient is cast back."""
    x = as_variable(x)
    return x if x.dtype == typ else Cast(typ).apply((x,))[0]
