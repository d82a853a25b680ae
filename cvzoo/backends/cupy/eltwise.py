"""Element-wise functions, their derivatives, sums and products.

NaN stays NaN. Floats are computed by one kernel of our own, 16-bit ones in float32, rounded once; integers in float64,
converted to the dtype of NumPy's result.
"""

import functools

import numpy as np

from cvzoo.backends.cuda.elementwise import are_floats, elementwise
from cvzoo.backends.cuda.elementwise_source import SLOPES, SLOPES_FROM_OUTPUT, VALUES, kind_body
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.numpy.eltwise import eltwise as numpy_eltwise
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.typing.aliases import Array

__all__ = ["add", "add_relu", "eltwise", "eltwise_grad", "eltwise_grad_from_output", "multiply"]

_ADD = "y = x0 + x1;"
_ADD_RELU = "T z = x0 + x1; y = z < T(0) ? T(0) : z;"
_MULTIPLY = "y = x0 * x1;"


@functools.cache
def _value_body(kind: str) -> str:
    return kind_body(_look_up(VALUES, kind), "x0", "y", "n0", "n1")


@functools.cache
def _slope_body(kind: str) -> str:
    return f"T s; {kind_body(_look_up(SLOPES, kind), 'x1', 's', 'n0', 'n1')} y = x0 * s;"


@functools.cache
def _slope_from_output_body(kind: str) -> str:
    return f"T s; {kind_body(_look_up(SLOPES_FROM_OUTPUT, kind), 'x1', 's', 'n0', 'n1')} y = x0 * s;"


def _look_up(table: dict[str, str], kind: str) -> str:
    expression = table.get(kind)
    if expression is None:
        raise ValueRangeError(f"eltwise has an unknown kind {kind!r}", expected=", ".join(table))
    return expression


def eltwise(kind: str, x: Array, *, alpha: float = 0.0, beta: float = 0.0) -> Array:
    """See `AbstractBackend.eltwise`."""
    body = _value_body(kind)
    numbers = (float(alpha), float(beta))
    if are_floats(x):
        return elementwise(f"eltwise_{kind}", body, (x,), numbers=numbers, dtype=x.dtype)
    dtype = numpy_eltwise(kind, np.zeros(1, x.dtype), alpha=alpha, beta=beta).dtype
    if dtype.kind != "f":
        return _of_integers(kind, x)
    return eltwise(kind, x.astype(np.float64), alpha=alpha, beta=beta).astype(dtype)


def _of_integers(kind: str, x: Array) -> Array:
    """relu, square or abs of integers, whose results are integers."""
    if kind == "square":
        return x * x
    return cupy().abs(x) if kind == "abs" else cupy().maximum(x, 0)


def eltwise_grad(kind: str, gy: Array, x: Array, *, alpha: float = 0.0, beta: float = 0.0) -> Array:
    """See `AbstractBackend.eltwise_grad`."""
    return _times_slope(f"eltwise_{kind}_grad", _slope_body(kind), gy, x, alpha, beta)


def eltwise_grad_from_output(kind: str, gy: Array, y: Array, *, alpha: float = 0.0, beta: float = 0.0) -> Array:
    """See `AbstractBackend.eltwise_grad_from_output`."""
    return _times_slope(f"eltwise_{kind}_grad_from_output", _slope_from_output_body(kind), gy, y, alpha, beta)


def _times_slope(name: str, body: str, gy: Array, x: Array, alpha: float, beta: float) -> Array:
    if not are_floats(gy):
        gy = gy.astype(np.float64)
    if not are_floats(x):
        x = x.astype(np.float64)
    return elementwise(name, body, (gy, x), numbers=(float(alpha), float(beta)), dtype=gy.dtype, order=x)


def add(a: Array, b: Array, *, out: Array | None = None) -> Array:
    """See `AbstractBackend.add`."""
    if are_floats(a, b) and (out is None or are_floats(out)):
        return elementwise("add", _ADD, (a, b), out=out)
    return cupy().add(a, b) if out is None else cupy().add(a, b, out=out)


def add_relu(a: Array, b: Array) -> Array:
    """See `AbstractBackend.add_relu`."""
    if are_floats(a, b):
        return elementwise("add_relu", _ADD_RELU, (a, b))
    return cupy().maximum(cupy().add(a, b), 0)


def multiply(a: Array, b: Array) -> Array:
    """See `AbstractBackend.multiply`."""
    return elementwise("multiply", _MULTIPLY, (a, b)) if are_floats(a, b) else cupy().multiply(a, b)
