"""C's types, operators and mathematical functions on NumPy arrays."""

from collections.abc import Callable

import numpy as np

from cvzoo.backends.numpy.erf import erf
from cvzoo.errors.exceptions import DtypeError, UnsupportedError
from cvzoo.typing.aliases import Array

_SIZED = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
C_TYPES: dict[str, np.dtype] = {
    **{name: np.dtype(name) for name in ("bool", *_SIZED, "float16", "float32", "float64")},
    **{f"{name}_t": np.dtype(name) for name in _SIZED},
    **{"float": np.dtype("float32"), "double": np.dtype("float64"), "size_t": np.dtype("uint64")},
    **{"unsigned": np.dtype("uint32"), "ptrdiff_t": np.dtype("int64")},
}
for _name, _dtype in {"char": "int8", "short": "int16", "int": "int32", "long": "int64", "long long": "int64"}.items():
    C_TYPES |= {_name: np.dtype(_dtype), f"unsigned {_name}": np.dtype(f"u{_dtype}")}
_ARC = {f"a{name}": f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh", "tan2")}
_SAME = (  # functions that NumPy calls as C does
    ("cbrt", "ceil", "cos", "cosh", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "rint", "sin")
    + ("sinh", "sqrt", "tan", "tanh", "trunc", "copysign", "fmax", "fmin", "fmod", "hypot")
    + ("isfinite", "isinf", "isnan", "signbit")
)
_FUNCTIONS: dict[str, Callable[..., Array]] = {
    **{name: getattr(np, numpy_name) for name, numpy_name in _ARC.items()},
    **{name: getattr(np, name) for name in _SAME},
    "erf": erf,
    "fabs": np.abs,
    "pow": np.power,
    "round": lambda x: np.where(np.isinf(x), x, np.trunc(x) + np.trunc(2 * (x - np.trunc(x)))),  # half away from zero
    "rsqrt": lambda x: 1 / np.sqrt(x),
}
_OF_TWO = {"atan2", "pow", "copysign", "fmax", "fmin", "fmod", "hypot"}
_OF_INTEGERS_TOO = {"max": np.fmax, "min": np.fmin, "abs": np.abs}
_ON_NUMBERS = {"==": "equal", "!=": "not_equal", "<": "less", ">": "greater", "<=": "less_equal"} | {
    ">=": "greater_equal",
    "+": "add",
    "-": "subtract",
    "*": "multiply",
}
_ON_INTEGERS = {"&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "left_shift", ">>": "right_shift"}
_UFUNCS = {**_ON_NUMBERS, **_ON_INTEGERS}


def convert(x: Array, dtype: np.dtype) -> Array:
    """(dtype)x: towards zero from floats to integers; a truth value from anything."""
    return x if x.dtype == dtype else x != 0 if dtype.kind == "b" else x.astype(dtype)


def promoted(t: np.dtype) -> np.dtype:
    """The type in which C computes with one operand: at least int or float."""
    return t if t.itemsize >= 4 else np.dtype("float32" if t.kind == "f" else "int32")


def in_common(*arrays: Array) -> list[Array]:
    """The arrays after C's usual arithmetic conversions (C17, 6.3.1.8); half precision becomes float, as in CuPy."""
    types = [promoted(x.dtype) for x in arrays]
    if not {t.kind for t in types} <= set("fiu"):
        raise DtypeError("kernels compute with real numbers", got=", ".join(str(x.dtype) for x in arrays))
    dtype = max(types, key=lambda t: (t.kind == "f", t.itemsize, t.kind == "u"))
    return [convert(x, dtype) for x in arrays]


def unary(operator: str, x: Array) -> Array:
    """-x, +x, ~x or !x. Raises DtypeError for ~ of a float."""
    if operator == "!":
        return x == 0
    if operator == "~":
        return ~convert(_integers("~", x)[0], promoted(x.dtype))
    x = convert(x, promoted(x.dtype))
    return -x if operator == "-" else x


def binary(operator: str, a: Array, b: Array) -> Array:
    """a operator b in the type in which C computes it. Raises DtypeError for %, bits and shifts of floats."""
    if operator in ("&&", "||"):
        return (a != 0) & (b != 0) if operator == "&&" else (a != 0) | (b != 0)
    if operator == "%" or operator in _ON_INTEGERS:
        _integers(operator, a, b)
    if operator in ("<<", ">>"):
        a = convert(a, promoted(a.dtype))
        b = convert(b, a.dtype)
    else:
        a, b = in_common(a, b)
    if operator in _UFUNCS:
        return getattr(np, _UFUNCS[operator])(a, b)
    if a.dtype.kind == "f":
        return a / b
    q = np.floor_divide(a, b)
    q = q + ((a - q * b != 0) & ((a < 0) != (b < 0))).astype(q.dtype)  # C rounds towards zero, NumPy down
    return q if operator == "/" else a - q * b


def call(function: str, arguments: list[Array]) -> Array:
    """The result of a mathematical function. Raises UnsupportedError if there is none of that name and arity."""
    if function in _OF_INTEGERS_TOO and len(arguments) == 2 - (function == "abs"):
        return _OF_INTEGERS_TOO[function](*in_common(*arguments))
    name = function.removesuffix("f") if function.removesuffix("f") in _FUNCTIONS else function
    if name not in _FUNCTIONS or len(arguments) != 1 + (name in _OF_TWO):
        raise UnsupportedError(
            f"kernels on the CPU have no function {function}() of {len(arguments)} arguments",
            expected=", ".join(sorted({*_FUNCTIONS, *_OF_INTEGERS_TOO})),
            hint="on_cpu=, a NumPy function that computes the same",
        )
    # C++ converts integers to double; expf and kin convert to float
    floats = [convert(x, np.dtype("float32" if name != function else "float64")) for x in arguments]
    if name == function:
        floats = [x if x.dtype.kind == "f" else y for x, y in zip(arguments, floats)]
    floats = in_common(*floats)
    y = _FUNCTIONS[name](*floats)
    return y if y.dtype.kind == "b" else y.astype(floats[0].dtype, copy=False)


def _integers(operator: str, *arrays: Array) -> tuple[Array, ...]:
    for x in arrays:
        if x.dtype.kind == "f":
            raise DtypeError(f"C's {operator!r} is for integers", got=str(x.dtype), hint="fmod(x, y), or (int)x")
    return arrays
