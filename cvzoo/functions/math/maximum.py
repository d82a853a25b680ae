"""The larger and the smaller of two arrays, element by element."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_half
from cvzoo.functions.array.broadcast_to import sum_to
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.functions.math.operands import SCALARS, of_pair, typed_constant


class Maximum(FunctionNode):
    def forward(self, inputs: tuple) -> tuple:
        a, b = inputs
        self.retain_inputs((0, 1))
        return (of_pair("maximum", a, b),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        a, b = self.get_retained_inputs()
        return _share(indexes, gys[0], a, b, a.array >= b.array)


class Minimum(FunctionNode):
    def forward(self, inputs: tuple) -> tuple:
        a, b = inputs
        self.retain_inputs((0, 1))
        return (of_pair("minimum", a, b),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        a, b = self.get_retained_inputs()
        return _share(indexes, gys[0], a, b, a.array <= b.array)


def _share(indexes: tuple, gy: Variable, a: Variable, b: Variable, first: Any) -> tuple:
    """The gradient for a where `first`, else for b."""
    return tuple([sum_to(gy * (~first if i else first).astype(gy.dtype), (b if i else a).shape) for i in indexes])


def _operands(a: Any, b: Any, function: str) -> tuple[Any, Any]:
    """A plain number becomes an array of the other's dtype."""
    if isinstance(b, SCALARS):
        array = as_array(a)
        value = typed_constant(b, array, function)
        if is_half(array.dtype):  # an array module need not know numbers of 16 bits
            return a, backend_of(array).xp.full((), float(value), "float32").astype(array.dtype)
        return a, backend_of(array).xp.full((), value, array.dtype)
    if isinstance(a, SCALARS):
        return _operands(b, a, function)[::-1]
    return a, b


def maximum(a: Variable | Any, b: Variable | Any) -> Variable:
    """The larger of a and b, element by element; operands as in `add`. Where they are equal a gets the gradient."""
    return Maximum().apply(agreed_pair(*_operands(a, b, "maximum")))[0]


def minimum(a: Variable | Any, b: Variable | Any) -> Variable:
    """The smaller of a and b, element by element; operands as in `add`. Where they are equal a gets the gradient."""
    return Minimum().apply(agreed_pair(*_operands(a, b, "minimum")))[0]
