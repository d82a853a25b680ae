"""Powers and roots."""

import math

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import range_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float
from cvzoo.errors.exceptions import DtypeError
from cvzoo.functions.array.broadcast import sum_to
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.functions.math.arithmetic import (
    SCALARS,
    Operand,
    Scalar,
    check_operands,
    multiply,
    of_constant,
    of_pair,
    typed_constant,
)
from cvzoo.functions.math.elementwise import AbstractElementwiseOfOutput, AbstractPointwise
from cvzoo.functions.math.exponential import log
from cvzoo.typing.aliases import Array, ArrayModule


class Square(FunctionNode):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend = backend_of(x)
        self.retain_inputs((0,))
        return (backend.eltwise("square", x) if is_float(x.dtype) else x * x,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (x,) = self.get_retained_inputs()
        return (multiply(multiply(gys[0], 2), x),)


def square(x: Variable | Array) -> Variable:
    """x * x."""
    return Square().apply((x,))[0]


def _log_of_base(a: Variable) -> Variable:
    """log(a), but 0 where a is 0, since 0 ** b does not depend on b (for b > 0)."""
    zero = a.array == 0
    if range_of(zero) == (False, False):
        return log(a)
    return log(a + zero.astype(a.dtype))


class Power(FunctionNode):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        a, b = inputs
        check_operands(a, b, "power")
        extremes = range_of(b) if a.dtype.kind in "iu" else None
        if extremes and extremes[0] < 0:
            raise DtypeError("power: integers have no negative powers", hint="functions.cast(x, 'float32')")
        self.retain_inputs((0, 1))
        return (of_pair("power", a, b),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        a, b = self.get_retained_inputs()
        (gy,) = gys
        gxs = []
        for i in indexes:
            gx = multiply(power(a, b), _log_of_base(a)) if i else multiply(b, power(a, b - 1))
            gxs.append(sum_to(multiply(gy, gx), (a, b)[i].shape))
        return tuple(gxs)


class PowerOfConstant(FunctionNode):
    """value ** x."""

    def __init__(self, value: Scalar):
        self.value = value

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        self.retain_outputs((0,))
        return (of_constant("power_of", x, typed_constant(self.value, x, "power")),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (y,) = self.get_retained_outputs()
        value = float(self.value)
        # 0 ** x is flat; a negative base has no real derivative
        slope = 0.0 if value == 0 else math.log(value) if value > 0 else math.nan
        return (multiply(multiply(gys[0], y), slope),)


class PowerByConstant(FunctionNode):
    """x ** value."""

    def __init__(self, value: Scalar):
        self.value = value

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        value = typed_constant(self.value, x, "power")
        if x.dtype.kind in "iu" and value < 0:
            raise DtypeError("power: integers have no negative powers", got=value, hint="functions.cast(x, 'float32')")
        self.retain_inputs((0,))
        return (of_constant("power", x, value),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        # x ** -1 is infinite where x is 0, and 0 * inf would be NaN
        if self.value == 0:
            return (multiply(gys[0], 0.0),)
        (x,) = self.get_retained_inputs()
        return (multiply(multiply(gys[0], self.value), power(x, self.value - 1)),)


def power(a: Operand, b: Operand) -> Variable:
    """a ** b, element by element; operands as in `add`.

    The gradient with respect to b is taken as 0 where a is 0, and is NaN where a is negative.
    Raises DtypeError if dtypes differ or integers are raised to a negative power (on a GPU only where that is a plain
    number: its arrays are not looked at); ShapeError if shapes do not broadcast.
    """
    if isinstance(b, SCALARS):
        # one multiplication, far cheaper than a power
        if b == 2 and not isinstance(a, SCALARS):
            return square(a)
        return PowerByConstant(b).apply((a,))[0]
    if isinstance(a, SCALARS):
        return PowerOfConstant(a).apply((b,))[0]
    return Power().apply(agreed_pair(a, b))[0]


class Sqrt(AbstractElementwiseOfOutput):
    kind = "sqrt"

    def slope(self, y: Variable) -> Variable:
        return 0.5 / y


def sqrt(x: Variable | Array) -> Variable:
    """The square root of x; NaN for negative values. The slope at 0 is infinite."""
    return Sqrt().apply((x,))[0]


class Rsqrt(AbstractPointwise):
    def value(self, xp: ArrayModule, x: Array) -> Array:
        return 1 / xp.sqrt(x)

    def slope(self, x: Variable) -> Variable:
        return -0.5 * rsqrt(x) / x


def rsqrt(x: Variable | Array) -> Variable:
    """1 / sqrt(x)."""
    return Rsqrt().apply((x,))[0]
