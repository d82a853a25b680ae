"""Element-wise functions, their derivatives, sums and products.

NaN stays NaN; overflow gives inf and log of a negative number NaN, without a warning.
"""

from collections.abc import Callable

import numpy as np

from cvzoo.backends.float_types import in_float32
from cvzoo.backends.numpy.erf import erf
from cvzoo.errors.exceptions import ValueRangeError

__all__ = ["add", "add_relu", "eltwise", "eltwise_grad", "eltwise_grad_from_output", "multiply"]

_SQRT_HALF = 0.7071067811865476
_INV_SQRT_2PI = 0.3989422804014327
_SQRT_2_OVER_PI = 0.7978845608028654
_GELU_CUBIC = 0.044715


def _sigmoid(x: np.ndarray) -> np.ndarray:
    # of negative numbers only, which cannot overflow
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, e) / (1 + e)


def _gelu_inner(x: np.ndarray) -> np.ndarray:
    return np.tanh(_SQRT_2_OVER_PI * (x + _GELU_CUBIC * x * x * x))


def _gelu_tanh_slope(x: np.ndarray) -> np.ndarray:
    t = _gelu_inner(x)
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * _SQRT_2_OVER_PI * (1 + 3 * _GELU_CUBIC * x * x)


def _swish_slope(x: np.ndarray, alpha: float) -> np.ndarray:
    s = _sigmoid(alpha * x)
    return s + alpha * x * s * (1 - s)


def _hard_swish_slope(x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    t = alpha * x + beta
    return np.where(t <= 0, 0, np.where(t >= 1, 1, t + alpha * x))


_Function = Callable[[np.ndarray, float, float], np.ndarray]

_VALUES: dict[str, _Function] = {
    "linear": lambda x, a, b: a * x + b,
    "relu": lambda x, a, b: np.maximum(x, 0),
    "leaky_relu": lambda x, a, b: np.where(x > 0, x, a * x),
    "elu": lambda x, a, b: np.where(x > 0, x, a * np.expm1(np.minimum(x, 0))),
    "clamp": lambda x, a, b: np.clip(x, a, b),
    "clip": lambda x, a, b: np.clip(x, a, b),
    "sigmoid": lambda x, a, b: _sigmoid(x),
    "tanh": lambda x, a, b: np.tanh(x),
    "softplus": lambda x, a, b: np.logaddexp(0, a * x) / a,
    "swish": lambda x, a, b: x * _sigmoid(a * x),
    "gelu_erf": lambda x, a, b: 0.5 * x * (1 + erf(_SQRT_HALF * x)),
    "gelu_tanh": lambda x, a, b: 0.5 * x * (1 + _gelu_inner(x)),
    "hard_sigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1),
    "hard_swish": lambda x, a, b: x * np.clip(a * x + b, 0, 1),
    "exp": lambda x, a, b: np.exp(x),
    "log": lambda x, a, b: np.log(x),
    "sqrt": lambda x, a, b: np.sqrt(x),
    "square": lambda x, a, b: x * x,
    "abs": lambda x, a, b: np.abs(x),
}

_SLOPES: dict[str, _Function] = {
    "linear": lambda x, a, b: x.dtype.type(a),
    "relu": lambda x, a, b: x > 0,
    "leaky_relu": lambda x, a, b: np.where(x > 0, x.dtype.type(1), x.dtype.type(a)),
    "elu": lambda x, a, b: np.where(x > 0, 1, a * np.exp(np.minimum(x, 0))),
    "clamp": lambda x, a, b: (x >= a) & (x <= b),
    "clip": lambda x, a, b: (x > a) & (x < b),
    "sigmoid": lambda x, a, b: _sigmoid(x) * _sigmoid(-x),  # 1 - sigmoid(x) would cancel
    "tanh": lambda x, a, b: 1 - np.tanh(x) ** 2,
    "softplus": lambda x, a, b: _sigmoid(a * x),
    "swish": lambda x, a, b: _swish_slope(x, a),
    "gelu_erf": lambda x, a, b: 0.5 * (1 + erf(_SQRT_HALF * x)) + _INV_SQRT_2PI * x * np.exp(-0.5 * x * x),
    "gelu_tanh": lambda x, a, b: _gelu_tanh_slope(x),
    "hard_sigmoid": lambda x, a, b: np.where((a * x + b > 0) & (a * x + b < 1), x.dtype.type(a), x.dtype.type(0)),
    "hard_swish": lambda x, a, b: _hard_swish_slope(x, a, b),
    "exp": lambda x, a, b: np.exp(x),
    "log": lambda x, a, b: 1 / x,
    "sqrt": lambda x, a, b: 0.5 / np.sqrt(x),
    "square": lambda x, a, b: 2 * x,
    "abs": lambda x, a, b: np.sign(x),
}

_SLOPES_FROM_OUTPUT: dict[str, _Function] = {
    "relu": lambda y, a, b: y > 0,
    "leaky_relu": lambda y, a, b: np.where(y > 0, y.dtype.type(1), y.dtype.type(a)),
    "elu": lambda y, a, b: np.where(y > 0, 1, y + a),
    "sigmoid": lambda y, a, b: y * (1 - y),
    "tanh": lambda y, a, b: 1 - y * y,
    "sqrt": lambda y, a, b: 0.5 / y,
    "exp": lambda y, a, b: y,
}


def _look_up(table: dict[str, _Function], kind: str) -> _Function:
    function = table.get(kind)
    if function is None:
        raise ValueRangeError(f"eltwise: there is no kind {kind!r}", expected=", ".join(table))
    return function


@in_float32(argument=1)
def eltwise(kind: str, x: np.ndarray, *, alpha: float = 0.0, beta: float = 0.0) -> np.ndarray:
    """See `AbstractBackend.eltwise`."""
    with np.errstate(all="ignore"):
        return np.asarray(_look_up(_VALUES, kind)(x, float(alpha), float(beta)), _dtype(x))


def _dtype(x: np.ndarray) -> np.dtype | None:
    """The result's dtype: that of x where it is floating, else what NumPy makes of it."""
    return x.dtype if x.dtype.kind == "f" else None


@in_float32(argument=1)
def eltwise_grad(kind: str, gy: np.ndarray, x: np.ndarray, *, alpha: float = 0.0, beta: float = 0.0) -> np.ndarray:
    """See `AbstractBackend.eltwise_grad`."""
    with np.errstate(all="ignore"):
        return np.asarray(gy * _look_up(_SLOPES, kind)(x, float(alpha), float(beta)), _dtype(gy))


@in_float32(argument=1)
def eltwise_grad_from_output(
    kind: str, gy: np.ndarray, y: np.ndarray, *, alpha: float = 0.0, beta: float = 0.0
) -> np.ndarray:
    """See `AbstractBackend.eltwise_grad_from_output`."""
    with np.errstate(all="ignore"):
        return np.asarray(gy * _look_up(_SLOPES_FROM_OUTPUT, kind)(y, float(alpha), float(beta)), _dtype(gy))


@in_float32
def add(a: np.ndarray, b: np.ndarray, *, out: np.ndarray | None = None) -> np.ndarray:
    """See `AbstractBackend.add`."""
    if out is None:
        return np.asarray(np.add(a, b))
    return np.add(a, b, out=out)


@in_float32
def add_relu(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """See `AbstractBackend.add_relu`."""
    y = np.asarray(np.add(a, b))
    return np.maximum(y, 0, out=y)


@in_float32
def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """See `AbstractBackend.multiply`."""
    return np.asarray(np.multiply(a, b))
