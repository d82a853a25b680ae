"""C's operators and functions, on NumPy arrays that hold one number for each thread of a kernel."""

from collections.abc import Callable

import numpy as np

from cvzoo.backends.numpy.erf import erf
from cvzoo.backends.user_kernels.c_types import common_type, promoted
from cvzoo.errors.exceptions import DtypeError, UnsupportedError

Array = np.ndarray

_COMPARISONS: dict[str, Callable] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    ">": np.greater,
    "<=": np.less_equal,
    ">=": np.greater_equal,
}
_ARITHMETIC: dict[str, Callable] = {"+": np.add, "-": np.subtract, "*": np.multiply}
_BITS: dict[str, Callable] = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
_ONE: dict[str, Callable] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": erf,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "fabs": np.abs,
    "floor": np.floor,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "rint": np.rint,
    "round": lambda x: np.trunc(x) + np.trunc(2 * (x - np.trunc(x))),  # half away from zero
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}
_TWO: dict[str, Callable] = {
    "atan2": np.arctan2,
    "copysign": np.copysign,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "pow": np.power,
}
_TESTS: dict[str, Callable] = {"isfinite": np.isfinite, "isinf": np.isinf, "isnan": np.isnan, "signbit": np.signbit}
_SINGLE = {f"{name}f": name for name in (*_ONE, *_TWO)}
FUNCTIONS = sorted({*_ONE, *_TWO, *_TESTS, *_SINGLE, "abs", "max", "min"})


def convert(x: Array, dtype: np.dtype) -> Array:
    """(dtype)x: towards zero from floats to integers; a truth value from anything."""
    return x if x.dtype == dtype else x != 0 if dtype.kind == "b" else x.astype(dtype)


def unary(operator: str, x: Array) -> Array:
    """-x, +x, ~x or !x."""
    if operator == "!":
        return x == 0
    x = convert(x, promoted(x.dtype))
    if operator == "~":
        _need_integers("~", x)
        return ~x
    return -x if operator == "-" else x


def binary(operator: str, a: Array, b: Array) -> Array:
    """a operator b, computed in the type that C computes in."""
    if operator in ("&&", "||"):
        a, b = a != 0, b != 0
        return a & b if operator == "&&" else a | b
    if operator in ("<<", ">>"):
        _need_integers(operator, a, b)
        a = convert(a, promoted(a.dtype))
        return (np.left_shift if operator == "<<" else np.right_shift)(a, b.astype(a.dtype))
    dtype = common_type(a.dtype, b.dtype)
    a, b = convert(a, dtype), convert(b, dtype)
    if operator in _COMPARISONS:
        return _COMPARISONS[operator](a, b)
    if operator in _ARITHMETIC:
        return _ARITHMETIC[operator](a, b)
    if operator in _BITS:
        _need_integers(operator, a, b)
        return _BITS[operator](a, b)
    if operator == "/":
        return np.divide(a, b) if dtype.kind == "f" else _quotient(a, b)
    _need_integers(operator, a, b)
    return a - _quotient(a, b) * b


def _quotient(a: Array, b: Array) -> Array:
    """Towards zero, where NumPy's goes down."""
    q = np.floor_divide(a, b)
    rest = a - q * b
    return q + ((rest != 0) & ((a < 0) != (b < 0))).astype(q.dtype)


def _need_integers(operator: str, *arrays: Array) -> None:
    for x in arrays:
        if x.dtype.kind == "f":
            raise DtypeError(f"C's {operator!r} is for integers", got=str(x.dtype), hint="fmod(x, y), or (int)x")


def call(function: str, arguments: tuple[Array, ...]) -> Array:
    """The result of one of C's functions, of those in FUNCTIONS."""
    if function in _SINGLE and function not in _ONE and function not in _TWO:
        single = tuple([convert(x, np.dtype("float32")) for x in arguments])
        return call(_SINGLE[function], single)
    if function in _TESTS and len(arguments) == 1:
        return _TESTS[function](_floats(arguments[0]))
    if function in _ONE and len(arguments) == 1:
        x = _floats(arguments[0])
        return _ONE[function](x).astype(x.dtype, copy=False)
    if function == "abs" and len(arguments) == 1:
        return np.abs(convert(arguments[0], promoted(arguments[0].dtype)))
    if function in ("max", "min") and len(arguments) == 2:
        a, b = arguments
        dtype = common_type(a.dtype, b.dtype)
        f = np.fmax if function == "max" else np.fmin
        return f(convert(a, dtype), convert(b, dtype))
    if function in _TWO and len(arguments) == 2:
        a, b = (_floats(x) for x in arguments)
        dtype = common_type(a.dtype, b.dtype)
        return _TWO[function](convert(a, dtype), convert(b, dtype))
    raise UnsupportedError(
        f"kernels on the CPU do not know {function}() of {len(arguments)} arguments", expected=", ".join(FUNCTIONS)
    )


def _floats(x: Array) -> Array:
    """What C++ calls a mathematical function with: integers become doubles."""
    return convert(x, promoted(x.dtype)) if x.dtype.kind == "f" else x.astype("float64")
