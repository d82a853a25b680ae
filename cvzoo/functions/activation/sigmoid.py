"""Sigmoids, the hyperbolic tangent, and smooth activations: Swish, GELU, ELU and others."""

import math

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.array.broadcast import broadcast_to
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.functions.math.arithmetic import SCALARS, Operand
from cvzoo.functions.math.elementwise import AbstractElementwise, AbstractElementwiseOfOutput
from cvzoo.functions.math.exponential import erf, exp
from cvzoo.typing.aliases import Array


class Sigmoid(AbstractElementwiseOfOutput):
    kind = "sigmoid"

    def slope(self, y: Variable) -> Variable:
        return y * (1 - y)


def sigmoid(x: Variable | Array) -> Variable:
    """1 / (1 + exp(-x))."""
    return Sigmoid().apply((x,))[0]


def _between(x: Variable, alpha: float, beta: float) -> Array:
    t = alpha * x.array + beta
    return ((t > 0) & (t < 1)).astype(x.dtype)


class HardSigmoid(AbstractElementwise):
    kind = "hard_sigmoid"
    beta = 0.5

    def __init__(self, slope: float):
        self.alpha = slope

    def slope(self, x: Variable) -> Variable | Array:
        return _between(x, self.alpha, self.beta) * x.dtype.type(self.alpha)


class HardSwish(AbstractElementwise):
    kind = "hard_swish"
    alpha = 1 / 6
    beta = 0.5

    def slope(self, x: Variable) -> Variable:
        # where the gate is 1 the slope is 1: the gate's own derivative is 0 there, and `_between` leaves it out
        above = (self.alpha * x.array + self.beta >= 1).astype(x.dtype)
        return (x * (2 * self.alpha) + self.beta) * _between(x, self.alpha, self.beta) + above


def hard_sigmoid(x: Variable | Array, slope: float = 0.2) -> Variable:
    """min(max(slope * x + 0.5, 0), 1); of NaN as `clip`.

    slope: 0.2 as in Chainer; 1 / 6 in MobileNetV3
    """
    return HardSigmoid(slope).apply((x,))[0]


def hard_swish(x: Variable | Array) -> Variable:
    """x * min(max(x + 3, 0), 6) / 6.

    Source: Searching for MobileNetV3 (Howard et al., ICCV 2019).
    """
    return HardSwish().apply((x,))[0]


class Softplus(AbstractElementwise):
    kind = "softplus"

    def __init__(self, beta: float):
        self.alpha = beta

    def slope(self, x: Variable) -> Variable:
        return sigmoid(x * self.alpha)


def softplus(x: Variable | Array, beta: float = 1.0) -> Variable:
    """log(1 + exp(beta * x)) / beta, without overflow.

    Raises ValueRangeError if beta is not positive.
    """
    if not beta > 0:
        raise ValueRangeError("softplus: beta must be positive", got=beta)
    return Softplus(beta).apply((x,))[0]


class Tanh(AbstractElementwiseOfOutput):
    kind = "tanh"

    def slope(self, y: Variable) -> Variable:
        return 1 - y * y


def tanh(x: Variable | Array) -> Variable:
    """The hyperbolic tangent of x."""
    return Tanh().apply((x,))[0]


class Swish(AbstractElementwise):
    kind = "swish"

    def __init__(self, beta: float):
        self.alpha = beta

    def slope(self, x: Variable) -> Variable:
        s = sigmoid(x * self.alpha)
        return s + x * self.alpha * s * (1 - s)


def swish(x: Variable | Array, beta: Operand = 1.0) -> Variable:
    """x * sigmoid(beta * x).

    beta: a number, or learned: an array of the shape of x's axes from the second on, as many as it has
    Raises ShapeError if beta does not fit x.
    Source: Searching for activation functions (Ramachandran, Zoph and Le, 2017).
    """
    x = as_variable(x)
    if isinstance(beta, SCALARS):
        return Swish(float(beta)).apply((x,))[0]
    x, factor = (as_variable(each) for each in agreed_pair(x, as_variable(beta)))
    factor = reshape(factor, (1, *factor.shape, *(1,) * (x.ndim - 1 - factor.ndim)))
    return x * sigmoid(x * broadcast_to(factor, x.shape))


def silu(x: Variable | Array) -> Variable:
    """x * sigmoid(x): `swish` with beta 1."""
    return Swish(1.0).apply((x,))[0]


_SQRT_2_OVER_PI = math.sqrt(2 / math.pi)
_CUBIC = 0.044715  # the paper's fit


class GELU(AbstractElementwise):
    kind = "gelu_erf"

    def slope(self, x: Variable) -> Variable:
        return (erf(x * math.sqrt(0.5)) + 1) * 0.5 + x * exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))


class GELUByTanh(AbstractElementwise):
    kind = "gelu_tanh"

    def slope(self, x: Variable) -> Variable:
        t = tanh((x + x**3 * _CUBIC) * _SQRT_2_OVER_PI)
        return (t + 1) * 0.5 + x * (1 - t * t) * (x * x * (3 * _CUBIC) + 1) * (0.5 * _SQRT_2_OVER_PI)


def gelu(x: Variable | Array, *, approximate: bool = False) -> Variable:
    """x times the probability that a normal number is below x.

    approximate: with tanh, for networks that were trained so
    Source: Gaussian error linear units (Hendrycks and Gimpel, 2016).
    """
    return (GELUByTanh() if approximate else GELU()).apply((x,))[0]


_SELU_ALPHA = 1.6732632423543772  # the fixed point of the paper's equation, for mean 0 and variance 1
_SELU_SCALE = 1.0507009873554805


class ELU(AbstractElementwiseOfOutput):
    kind = "elu"

    def __init__(self, alpha: float):
        self.alpha = alpha

    def slope(self, y: Variable) -> Variable:
        # the sign of x is read from the output, which is why alpha must not be negative
        above = (y.array > 0).astype(y.dtype)
        return (y + self.alpha) * (1 - above) + above


def elu(x: Variable | Array, alpha: float = 1.0) -> Variable:
    """x where it is above 0, else alpha * (exp(x) - 1).

    alpha: at least 0
    Raises ValueRangeError if it is negative.
    Source: Fast and accurate deep network learning by exponential linear units (Clevert et al., ICLR 2016).
    """
    if not alpha >= 0:
        raise ValueRangeError("elu: alpha must not be negative", expected="at least 0", got=alpha)
    return ELU(alpha).apply((x,))[0]


def selu(x: Variable | Array, alpha: float = _SELU_ALPHA, scale: float = _SELU_SCALE) -> Variable:
    """scale * elu(x, alpha).

    Source: Self-normalizing neural networks (Klambauer et al., NIPS 2017).
    """
    return elu(x, alpha) * scale
