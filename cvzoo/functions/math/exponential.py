"""Exponentials, logarithms and the error function."""

import math

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.erf import erf as erf_of_array
from cvzoo.functions.math.elementwise import AbstractElementwise, AbstractElementwiseOfOutput, AbstractPointwise
from cvzoo.typing.aliases import Array, ArrayModule


class Exp(AbstractElementwiseOfOutput):
    kind = "exp"

    def slope(self, y: Variable) -> Variable:
        return y


def exp(x: Variable | Array) -> Variable:
    """e to the power of x. NaN stays NaN with NumPy; oneDNN may make inf of it."""
    return Exp().apply((x,))[0]


class Expm1(AbstractPointwise):
    def value(self, xp: ArrayModule, x: Array) -> Array:
        return xp.expm1(x)

    def slope(self, x: Variable) -> Variable:
        return exp(x)


def expm1(x: Variable | Array) -> Variable:
    """exp(x) - 1."""
    return Expm1().apply((x,))[0]


class Log(AbstractElementwise):
    kind = "log"

    def slope(self, x: Variable) -> Variable:
        return 1 / x


def log(x: Variable | Array) -> Variable:
    """The natural logarithm of x; NaN for negative values, -inf for 0."""
    return Log().apply((x,))[0]


class Log10(AbstractPointwise):
    def value(self, xp: ArrayModule, x: Array) -> Array:
        return xp.log10(x)

    def slope(self, x: Variable) -> Variable:
        return (1 / math.log(10)) / x


def log10(x: Variable | Array) -> Variable:
    """The logarithm of x to base 10."""
    return Log10().apply((x,))[0]


class Log1p(AbstractPointwise):
    def value(self, xp: ArrayModule, x: Array) -> Array:
        return xp.log1p(x)

    def slope(self, x: Variable) -> Variable:
        return 1 / (x + 1)


def log1p(x: Variable | Array) -> Variable:
    """log(1 + x)."""
    return Log1p().apply((x,))[0]


class Log2(AbstractPointwise):
    def value(self, xp: ArrayModule, x: Array) -> Array:
        return xp.log2(x)

    def slope(self, x: Variable) -> Variable:
        return (1 / math.log(2)) / x


def log2(x: Variable | Array) -> Variable:
    """The logarithm of x to base 2."""
    return Log2().apply((x,))[0]


class Erf(AbstractPointwise):
    def value(self, xp: ArrayModule, x: Array) -> Array:
        return erf_of_array(x)

    def slope(self, x: Variable) -> Variable:
        return exp(-(x * x)) * (2 / math.sqrt(math.pi))


def erf(x: Variable | Array) -> Variable:
    """2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x."""
    return Erf().apply((x,))[0]
