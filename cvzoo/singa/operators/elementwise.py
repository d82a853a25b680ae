"""`autograd`'s elementwise functions."""

import builtins
import functools
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.activation.relu import leaky_relu
from cvzoo.functions.activation.relu import relu as _relu
from cvzoo.functions.activation.sigmoid import elu as _elu
from cvzoo.functions.activation.sigmoid import gelu as _gelu
from cvzoo.functions.activation.sigmoid import sigmoid as _sigmoid
from cvzoo.functions.activation.sigmoid import softplus as _softplus
from cvzoo.functions.activation.sigmoid import tanh as _tanh
from cvzoo.functions.activation.softmax import softmax as _softmax
from cvzoo.functions.math.arithmetic import absolute, divide, multiply, subtract
from cvzoo.functions.math.arithmetic import add as _add
from cvzoo.functions.math.arithmetic import negative as _negative
from cvzoo.functions.math.exponential import erf as _erf
from cvzoo.functions.math.exponential import exp as _exp
from cvzoo.functions.math.exponential import log as _log
from cvzoo.functions.math.extremum import clip as _clip
from cvzoo.functions.math.extremum import maximum, minimum
from cvzoo.functions.math.power import power
from cvzoo.functions.math.power import sqrt as _sqrt
from cvzoo.functions.math.rounding import ceil as _ceil
from cvzoo.functions.math.rounding import floor as _floor
from cvzoo.functions.math.rounding import sign as _sign
from cvzoo.functions.math.trigonometric import arccos, arcsin, arctan
from cvzoo.functions.math.trigonometric import cos as _cos
from cvzoo.functions.math.trigonometric import cosh as _cosh
from cvzoo.functions.math.trigonometric import sin as _sin
from cvzoo.functions.math.trigonometric import sinh as _sinh
from cvzoo.functions.math.trigonometric import tan as _tan
from cvzoo.functions.noise.dropout import dropout as _dropout
from cvzoo.singa.tensor_class import Tensor, apply, hold

Value = Tensor | Variable | np.ndarray | float


# --- two and more -----------------------------------------------------------------------------------------------------
def add(a: Value, b: Value) -> Tensor:
    """a + b."""
    return apply(_add, a, b)


def sub(a: Value, b: Value) -> Tensor:
    """a - b."""
    return apply(subtract, a, b)


def mul(x: Value, y: Value) -> Tensor:
    """x * y."""
    return apply(multiply, x, y)


def div(a: Value, b: Value) -> Tensor:
    """a / b."""
    return apply(divide, a, b)


def pow(a: Value, b: Value) -> Tensor:
    """a to the power of b."""
    return apply(power, a, b)


def add_all(*xs: Any) -> Tensor:
    """The sum of all arguments, element by element."""
    return functools.reduce(add, xs)


def sum(*l: Any) -> Tensor:
    """The sum of all arguments, element by element."""
    return functools.reduce(add, l)


def mean(*l: Value) -> Tensor:
    """The mean of all arguments, element by element."""
    return sum(*l) * (1.0 / len(l))


def max(*l: Any) -> Tensor:
    """The largest of all arguments, element by element."""
    return functools.reduce(lambda a, b: apply(maximum, a, b), l)


def min(*l: Any) -> Tensor:
    """The smallest of all arguments, element by element."""
    return functools.reduce(lambda a, b: apply(minimum, a, b), l)


def less(x: Tensor, y: Tensor) -> Tensor:
    """1 where x < y, else 0; no gradient."""
    return x < y


def greater(x: Tensor, y: Tensor) -> Tensor:
    """1 where x > y, else 0; no gradient."""
    return x > y


def equal(x: Tensor, y: Tensor) -> Tensor:
    """1 where x = y, else 0; no gradient."""
    return hold((x._array == y._array).astype("float32"))


# --- activations ------------------------------------------------------------------------------------------------------
def relu(x: Value) -> Tensor:
    """x where it is positive, else 0."""
    return apply(_relu, x)


def leakyrelu(x: Value, a: float = 0.01) -> Tensor:
    """x where it is positive, else a x."""
    return apply(leaky_relu, x, a)


def prelu(x: Value, slope: Value) -> Tensor:
    """x where it is positive, else slope x; slope is broadcast to x."""
    return add(relu(x), mul(slope, apply(minimum, x, 0.0)))


def elu(x: Value, alpha: float = 1.0) -> Tensor:
    """x where it is positive, else alpha (exp(x) - 1)."""
    return apply(_elu, x, alpha)


def selu(x: Value, alpha: float = 1.67326, gamma: float = 1.0507) -> Tensor:
    """gamma elu(x, alpha)."""
    return elu(x, alpha) * gamma


def gelu(x: Value) -> Tensor:
    """x times the normal distribution function of x. (SINGA has none.)"""
    return apply(_gelu, x)


def sigmoid(x: Value) -> Tensor:
    """1 / (1 + exp(-x))."""
    return apply(_sigmoid, x)


def hardsigmoid(x: Value, alpha: float = 0.2, gamma: float = 0.5) -> Tensor:
    """alpha x + gamma between 0 and 1."""
    return clip(mul(x, alpha) + gamma, 0.0, 1.0)


def tanh(x: Value) -> Tensor:
    """The hyperbolic tangent."""
    return apply(_tanh, x)


def softmax(x: Value, axis: int = 1) -> Tensor:
    """exp(x), divided by its sum over the axis."""
    return apply(_softmax, x, axis)


def softplus(x: Value) -> Tensor:
    """log(1 + exp(x))."""
    return apply(_softplus, x)


def softsign(x: Value) -> Tensor:
    """x / (1 + |x|)."""
    return div(x, abs(x) + 1.0)


def dropout(x: Value, seed: int = 0, ratio: float = 0.5) -> Tensor:
    """While training, x with each value dropped with probability `ratio` and the others divided by 1 - ratio; else x.

    seed: not used; the draws are those of the thread's generator (`device.SetRandSeed`)
    Where we differ from SINGA: its code draws the same numbers each time, and multiplies by 1 - ratio where its
    documentation divides.
    """
    return apply(_dropout, x, ratio)


# --- one --------------------------------------------------------------------------------------------------------------
def identity(x: Value) -> Tensor:
    """x."""
    return apply(lambda y: y, x)


def clip(x: Value, min: float | None = None, max: float | None = None) -> Tensor:
    """x between min and max."""
    return apply(_clip, x, min, max)


def exp(a: Value) -> Tensor:
    """e to the power of a."""
    return apply(_exp, a)


def log(x: Value) -> Tensor:
    """The natural logarithm."""
    return apply(_log, x)


def sqrt(x: Value) -> Tensor:
    """The square root."""
    return apply(_sqrt, x)


def abs(a: Value) -> Tensor:
    """The absolute value."""
    return apply(absolute, a)


def negative(x: Value) -> Tensor:
    """-x."""
    return apply(_negative, x)


def reciprocal(x: Value) -> Tensor:
    """1 / x."""
    return apply(divide, 1.0, x)


def sign(a: Value) -> Tensor:
    """-1, 0 or 1; its gradient is 0."""
    return apply(_sign, a)


def ceil(x: Value) -> Tensor:
    """The smallest integer not below x; its gradient is 0."""
    return apply(_ceil, x)


def floor(x: Value) -> Tensor:
    """The largest integer not above x; its gradient is 0."""
    return apply(_floor, x)


def round(x: Value) -> Tensor:
    """The nearest integer, halves away from zero; its gradient is 0."""
    return mul(sign(x), floor(abs(x) + 0.5))


def erf(x: Value) -> Tensor:
    """The error function."""
    return apply(_erf, x)


def cos(x: Value) -> Tensor:
    """The cosine."""
    return apply(_cos, x)


def sin(x: Value) -> Tensor:
    """The sine."""
    return apply(_sin, x)


def tan(x: Value) -> Tensor:
    """The tangent."""
    return apply(_tan, x)


def cosh(x: Value) -> Tensor:
    """The hyperbolic cosine."""
    return apply(_cosh, x)


def sinh(x: Value) -> Tensor:
    """The hyperbolic sine."""
    return apply(_sinh, x)


def acos(x: Value) -> Tensor:
    """The inverse of the cosine."""
    return apply(arccos, x)


def asin(x: Value) -> Tensor:
    """The inverse of the sine."""
    return apply(arcsin, x)


def atan(x: Value) -> Tensor:
    """The inverse of the tangent."""
    return apply(arctan, x)


def acosh(x: Value) -> Tensor:
    """The inverse of the hyperbolic cosine, for x above 1."""
    return log(add(x, sqrt(mul(x, x) - 1.0)))


def asinh(x: Value) -> Tensor:
    """The inverse of the hyperbolic sine."""
    return mul(sign(x), log(abs(x) + sqrt(mul(x, x) + 1.0)))


def atanh(x: Value) -> Tensor:
    """The inverse of the hyperbolic tangent, for x between -1 and 1."""
    return mul(log(div(add(x, 1.0), sub(1.0, x))), 0.5)


def add_bias(x: Tensor, b: Tensor, axis: int = 0) -> Tensor:
    """x (N, C) with b (C,) added to each row, or b (N,) to each column with axis=1; b may also be (1, C) or (N, 1).

    Raises ShapeError if they do not fit.
    """
    size = x.shape[1 - axis] if len(x.shape) == 2 and axis in (0, 1) else None
    if size is None or b.shape is None or builtins.max(b.shape, default=0) != size or b._array.size != size:
        raise ShapeError(
            "add_bias: b needs one number for each column of x, or with axis=1 for each row",
            expected="x (N, C), b (C,); or with axis=1 b (N,)",
            got=f"x {x.shape}, b {b.shape}, axis {axis}",
        )
    shape = (1, size) if axis == 0 else (size, 1)
    return add(x, b if b.shape == shape or (axis == 0 and len(b.shape) == 1) else b.reshape(shape))
