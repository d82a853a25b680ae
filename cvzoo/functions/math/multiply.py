"""Products, element by element."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.array.broadcast_to import sum_to
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.functions.math.elementwise import SCALARS, Operand, Scalar, check_operands, of_constant, typed_constant


class Multiply(FunctionNode):
    def forward(self, inputs: tuple) -> tuple:
        a, b = inputs
        self.retain_inputs((0, 1))
        return (check_operands(a, b, "multiply").multiply(a, b),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        both = self.get_retained_inputs()
        return tuple([sum_to(multiply(gys[0], both[1 - i]), both[i].shape) for i in indexes])


class MultiplyConstant(FunctionNode):
    def __init__(self, value: Scalar):
        self.value = value

    def forward(self, inputs: tuple) -> tuple:
        (x,) = inputs
        return (of_constant("multiply", x, typed_constant(self.value, x, "multiply")),)

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
        return MultiplyConstant(self.value).apply(gys)


def multiply(a: Operand, b: Operand) -> Variable:
    """a * b, element by element; operands as in `add`."""
    if isinstance(b, SCALARS):
        return MultiplyConstant(b).apply((a,))[0]
    if isinstance(a, SCALARS):
        return MultiplyConstant(a).apply((b,))[0]
    return Multiply().apply(agreed_pair(a, b))[0]
