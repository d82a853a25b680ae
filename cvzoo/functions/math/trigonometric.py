"""Trigonometric functions, their inverses, and hyperbolic ones."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.float_types import is_float
from cvzoo.errors.exceptions import DtypeError
from cvzoo.functions.array.broadcast import sum_to
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.functions.math.arithmetic import check_operands
from cvzoo.functions.math.elementwise import AbstractPointwise
from cvzoo.functions.math.power import rsqrt
from cvzoo.typing.aliases import Array, ArrayModule


class Sin(AbstractPointwise):
    def value(self, xp: ArrayModule, x: Array) -> Array:
        return xp.sin(x)

    def slope(self, x: Variable) -> Variable:
        return cos(x)


class Cos(AbstractPointwise):
    def value(self, xp: ArrayModule, x: Array) -> Array:
        return xp.cos(x)

    def slope(self, x: Variable) -> Variable:
        return -sin(x)


class Tan(AbstractPointwise):
    def value(self, xp: ArrayModule, x: Array) -> Array:
        return xp.tan(x)

    def slope(self, x: Variable) -> Variable:
        return 1 + tan(x) ** 2


def sin(x: Variable | Array) -> Variable:
    """The sine of x, in radians."""
    return Sin().apply((x,))[0]


def cos(x: Variable | Array) -> Variable:
    """The cosine of x, in radians."""
    return Cos().apply((x,))[0]


def tan(x: Variable | Array) -> Variable:
    """The tangent of x, in radians."""
    return Tan().apply((x,))[0]


class Arcsin(AbstractPointwise):
    def value(self, xp: ArrayModule, x: Array) -> Array:
        return xp.arcsin(x)

    def slope(self, x: Variable) -> Variable:
        return rsqrt(1 - x * x)


class Arccos(AbstractPointwise):
    def value(self, xp: ArrayModule, x: Array) -> Array:
        return xp.arccos(x)

    def slope(self, x: Variable) -> Variable:
        return -rsqrt(1 - x * x)


class Arctan(AbstractPointwise):
    def value(self, xp: ArrayModule, x: Array) -> Array:
        return xp.arctan(x)

    def slope(self, x: Variable) -> Variable:
        return 1 / (1 + x * x)


class Arctan2(FunctionNode):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        y, x = inputs
        xp = check_operands(y, x, "arctan2").xp
        if not is_float(y.dtype):
            raise DtypeError("arctan2: needs floating arrays", got=y.dtype, hint="functions.cast(x, 'float32')")
        self.retain_inputs((0, 1))
        return (xp.arctan2(y, x),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        y, x = self.get_retained_inputs()
        scaled = gys[0] / (x * x + y * y)
        return tuple([sum_to(-y * scaled, x.shape) if i else sum_to(x * scaled, y.shape) for i in indexes])


def arcsin(x: Variable | Array) -> Variable:
    """The angle whose sine is x: radians, -pi / 2 to pi / 2."""
    return Arcsin().apply((x,))[0]


def arccos(x: Variable | Array) -> Variable:
    """The angle whose cosine is x: radians, 0 to pi."""
    return Arccos().apply((x,))[0]


def arctan(x: Variable | Array) -> Variable:
    """The angle whose tangent is x: radians, -pi / 2 to pi / 2."""
    return Arctan().apply((x,))[0]


def arctan2(y: Variable | Array, x: Variable | Array) -> Variable:
    """The angle of the point (x, y) from the x axis: radians, -pi to pi; shapes broadcast.

    Raises DtypeError if dtypes differ, ShapeError if shapes do not broadcast.
    """
    return Arctan2().apply(agreed_pair(y, x))[0]


class Sinh(AbstractPointwise):
    def value(self, xp: ArrayModule, x: Array) -> Array:
        return xp.sinh(x)

    def slope(self, x: Variable) -> Variable:
        return cosh(x)


class Cosh(AbstractPointwise):
    def value(self, xp: ArrayModule, x: Array) -> Array:
        return xp.cosh(x)

    def slope(self, x: Variable) -> Variable:
        return sinh(x)


def sinh(x: Variable | Array) -> Variable:
    """The hyperbolic sine of x."""
    return Sinh().apply((x,))[0]


def cosh(x: Variable | Array) -> Variable:
    """The hyperbolic cosine of x."""
    return Cosh().apply((x,))[0]
