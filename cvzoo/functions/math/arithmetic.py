"""Arithmetic, element by element: sums, products, quotients and absolute values, and what their operands may be."""

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.abstract import AbstractBackend
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_bfloat16, is_float
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.functions.array.broadcast import sum_to
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.functions.math.elementwise import AbstractElementwise
from cvzoo.typing.aliases import Array

SCALARS = (int, float, np.number)
Scalar = int | float | np.number  # the same for type checkers
Operand = Variable | Array | Scalar  # of an arithmetic function, of which one at least is no scalar


def typed_constant(value: float | np.number, x: Variable | Array, function: str) -> np.number:
    """The number in x's dtype, so that a number never changes the dtype of a result.

    Raises DtypeError if x is not an array of numbers, or its dtype cannot hold the number.
    """
    backend_of(x)
    kind = x.dtype.kind
    # bool is a subclass of int, and would count as 1 or 0
    if isinstance(value, bool):
        raise DtypeError(f"{function}: {value} is not a number", hint=f"float({value})")
    if kind == "f" or is_bfloat16(x.dtype):
        return x.dtype.type(value)
    if kind in "iu" and isinstance(value, int | np.integer):
        bounds = np.iinfo(x.dtype)
        if bounds.min <= value <= bounds.max:
            return x.dtype.type(value)
    raise DtypeError(
        f"{function}: {value!r} does not fit in {x.dtype} values",
        expected="a floating array" if kind in "iub" else "an array of numbers",
        got=x.dtype,
        hint="functions.cast(x, 'float32')",
    )


def check_operands(a: Variable | Array, b: Variable | Array, function: str) -> AbstractBackend:
    """The backend of two arrays that have one dtype and shapes that broadcast.

    Raises DtypeError or ShapeError if they do not fit.
    """
    backend = backend_of(a)
    backend_of(b)
    if a.dtype != b.dtype or a.dtype.kind == "b":
        _refuse_dtypes(a.dtype, b.dtype, function)
    if a.shape != b.shape:
        check_broadcast(a.shape, b.shape, function)
    return backend


def of_pair(operation: str, a: Array, b: Array) -> Array:
    """The function of that name ("subtract", "divide", "maximum", "minimum", "power") of two arrays.

    Raises DtypeError or ShapeError as check_operands does.
    """
    return check_operands(a, b, operation).arithmetic(operation, a, b)


def of_constant(operation: str, x: Array, value: float | np.number) -> Array:
    """x and a number that typed_constant has made one of x's dtype, combined.

    operation: "add", "subtract" (x - value), "subtract_from", "multiply", "divide" (x / value), "divide_by", "power"
        (x ** value) or "power_of"
    """
    return backend_of(x).arithmetic_constant(operation, x, value)


def _refuse_dtypes(a: np.dtype, b: np.dtype, function: str) -> None:
    wider = next((str(dtype) for dtype in (a, b) if is_float(dtype)), "float32")
    raise DtypeError(
        f"{function}: both operands must have the same dtype" if a != b else f"{function}: booleans are not numbers",
        got=f"{a} and {b}",
        hint=f"functions.cast(x, {wider!r}), or array.astype({wider!r})",
    )


def check_broadcast(a: tuple[int, ...], b: tuple[int, ...], function: str) -> None:
    """Nothing.

    Raises ShapeError if the shapes a and b do not broadcast against each other.
    """
    for m, n in zip(reversed(a), reversed(b)):
        if m != n and m != 1 and n != 1:
            raise ShapeError(
                f"{function}: the shapes do not broadcast",
                expected="equal sizes, or 1, axis by axis from the last",
                got=f"{a} and {b}",
                hint="reshape one of them so that the axes that belong together are aligned",
            )


class Add(FunctionNode):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        a, b = inputs
        return (check_operands(a, b, "add").add(a, b),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return tuple([sum_to(gys[0], self.inputs[i].shape) for i in indexes])


class AddConstant(FunctionNode):
    def __init__(self, value: Scalar):
        self.value = value

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        return (of_constant("add", x, typed_constant(self.value, x, "add")),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return gys


class Subtract(FunctionNode):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        a, b = inputs
        return (of_pair("subtract", a, b),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (gy,) = gys
        return tuple([sum_to(negative(gy) if i else gy, self.inputs[i].shape) for i in indexes])


class SubtractConstant(FunctionNode):
    def __init__(self, value: Scalar):
        self.value = value

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        return (of_constant("subtract", x, typed_constant(self.value, x, "subtract")),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return gys


class SubtractFromConstant(FunctionNode):
    def __init__(self, value: Scalar):
        self.value = value

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        return (of_constant("subtract_from", x, typed_constant(self.value, x, "subtract")),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return (negative(gys[0]),)


class Negative(FunctionNode):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend_of(x)
        if x.dtype.kind == "b":
            raise DtypeError("negative: booleans have no negative", got=x.dtype, hint="~x.array")
        return (-x,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
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

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        a, b = inputs
        return (backend_of(a).add_relu(a, b),)


class Multiply(FunctionNode):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        a, b = inputs
        self.retain_inputs((0, 1))
        return (check_operands(a, b, "multiply").multiply(a, b),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        both = self.get_retained_inputs()
        return tuple([sum_to(multiply(gys[0], both[1 - i]), both[i].shape) for i in indexes])


class MultiplyConstant(FunctionNode):
    def __init__(self, value: Scalar):
        self.value = value

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        return (of_constant("multiply", x, typed_constant(self.value, x, "multiply")),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return MultiplyConstant(self.value).apply(gys)


def multiply(a: Operand, b: Operand) -> Variable:
    """a * b, element by element; operands as in `add`."""
    if isinstance(b, SCALARS):
        return MultiplyConstant(b).apply((a,))[0]
    if isinstance(a, SCALARS):
        return MultiplyConstant(a).apply((b,))[0]
    return Multiply().apply(agreed_pair(a, b))[0]


def _check_floating(x: Variable | Array) -> None:
    if not is_float(x.dtype):
        raise DtypeError(
            "divide: integers have no exact quotients", got=x.dtype, hint="x // y, or functions.cast first"
        )


class Divide(FunctionNode):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        a, b = inputs
        y = of_pair("divide", a, b)
        _check_floating(a)
        self.retain_inputs((0, 1))
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        a, b = self.get_retained_inputs()
        # the gradient of b is -ga * a / b: b * b could overflow
        ga = divide(gys[0], b)
        return tuple([sum_to(negative(divide(multiply(ga, a), b)) if i else ga, (a, b)[i].shape) for i in indexes])


class DivideByConstant(FunctionNode):
    def __init__(self, value: Scalar):
        self.value = value

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        value = typed_constant(self.value, x, "divide")
        _check_floating(x)
        return (of_constant("divide", x, value),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return DivideByConstant(self.value).apply(gys)


class DivideConstant(FunctionNode):
    def __init__(self, value: Scalar):
        self.value = value

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        value = typed_constant(self.value, x, "divide")
        _check_floating(x)
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        return (of_constant("divide_by", x, value),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (x,) = self.get_retained_inputs()
        (y,) = self.get_retained_outputs()
        # -value / x**2 by the output, since x * x could overflow
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
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        a, b = inputs
        return (check_operands(a, b, "floor_divide").xp.floor_divide(a, b),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return (None,) * len(indexes)


class FloorDivideConstant(FunctionNode):
    def __init__(self, value: Scalar, *, reverse: bool):
        self.value = value
        self.reverse = reverse

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        value = typed_constant(self.value, x, "floor_divide")
        return (value // x if self.reverse else x // value,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return (None,)


def floor_divide(a: Operand, b: Operand) -> Variable:
    """a // b, element by element; operands as in `add`. Its gradient is nothing: it is flat where it is smooth."""
    if isinstance(b, SCALARS):
        return FloorDivideConstant(b, reverse=False).apply((a,))[0]
    if isinstance(a, SCALARS):
        return FloorDivideConstant(a, reverse=True).apply((b,))[0]
    return FloorDivide().apply(agreed_pair(a, b))[0]


class Absolute(AbstractElementwise):
    kind = "abs"

    def slope(self, x: Variable) -> Variable | Array:
        return backend_of(x.array).xp.sign(x.array)


def absolute(x: Variable | Array) -> Variable:
    """|x|; the slope at 0 is taken as 0."""
    return Absolute().apply((x,))[0]


def linear_interpolate(p: Variable | Array, x: Variable | Array, y: Variable | Array) -> Variable:
    """p * x + (1 - p) * y, element by element; shapes broadcast."""
    return add(multiply(p, x), multiply(subtract(1, p), y))
