"""Element-wise functions, their derivatives, sums and products.

NaN stays NaN except in clip, hard_sigmoid and exp, which return one of their bounds or inf. relu of -inf is NaN here.
"""

from collections.abc import Callable

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.float_types import in_float32
from cvzoo.backends.numpy.eltwise import add as numpy_add
from cvzoo.backends.numpy.eltwise import add_relu as numpy_add_relu
from cvzoo.backends.numpy.eltwise import eltwise as numpy_eltwise
from cvzoo.backends.numpy.eltwise import eltwise_grad as numpy_eltwise_grad
from cvzoo.backends.numpy.eltwise import eltwise_grad_from_output as numpy_eltwise_grad_from_output
from cvzoo.backends.numpy.eltwise import multiply as numpy_multiply
from cvzoo.backends.onednn.algorithms import ELTWISE, ELTWISE_FROM_OUTPUT
from cvzoo.backends.onednn.memory import describe_dense, is_dense, new_like
from cvzoo.backends.onednn.pool import ALIGNMENT
from cvzoo.backends.onednn.primitives import (
    DIFF_DST,
    DIFF_SRC,
    DST,
    F32,
    FORWARD_TRAINING,
    SRC,
    SRC_1,
    Primitive,
    attributes,
    describe,
    implementation,
    local,
    primitive_descriptor,
    recall,
)
from cvzoo.backends.onednn.swish import FEW, is_own_swish, make_swish

__all__ = ["add", "add_relu", "eltwise", "eltwise_grad", "eltwise_grad_from_output", "multiply"]

# elements; for fewer, NumPy is faster than a oneDNN call, and sums and products are equal in both libraries
_FEW_TO_ADD = 1 << 15
_GREATER_OR_EQUAL = 0x1FFF6
_FIRST_POST_OP_SOURCE = 32768 | 2
_ZERO = np.zeros(1, F32)
_ADD, _MULTIPLY = 0x1FFF0, 0x1FFF1


def _is_case(x: np.ndarray) -> bool:
    if x.dtype != F32 or x.size < FEW:
        return False
    return (x.ndim < 2 or x.size // x.shape[0] >= FEW) and is_dense(x)


def _make_relu(size: int) -> Callable[[np.ndarray, np.ndarray], None] | bool:
    """ReLU as x * (x >= 0): oneDNN's relu turns NaN into 0, which would hide divergence."""
    line, one = describe((size,), (1,)), describe((1,), (1,))
    attr = attributes([("binary", _MULTIPLY, line.address)])
    descriptor = primitive_descriptor("binary", _GREATER_OR_EQUAL, line, one, line, attr)
    if descriptor is None:
        return False
    run = Primitive(descriptor, [(SRC, line), (SRC_1, one), (DST, line), (_FIRST_POST_OP_SOURCE, line)])
    return lambda x, y: run(x, _ZERO, y, x)


def _make(size: int, algorithm: tuple[int, float, float]) -> Primitive | bool:
    kind, alpha, beta = algorithm
    line = describe((size,), (1,))
    descriptor = primitive_descriptor("eltwise_forward", FORWARD_TRAINING, kind, line, line, alpha, beta, attributes())
    return Primitive(descriptor, [(SRC, line), (DST, line)]) if descriptor else False


@in_float32(argument=1)
def eltwise(kind: str, x: np.ndarray, *, alpha: float = 0.0, beta: float = 0.0) -> np.ndarray:
    """See `AbstractBackend.eltwise`."""
    if kind in ELTWISE and _is_case(x):
        key = (kind, x.size, alpha, beta)
        run = local.young.get(key)
        if run is None and kind == "relu":
            run = recall(key, _make_relu, x.size)
        elif run is None and is_own_swish(kind, alpha, (1, x.size)):
            run = recall(key, make_swish, x.size, alpha)
        elif run is None:
            run = recall(key, _make, x.size, ELTWISE[kind](alpha, beta))
        if run:
            y = new_like(x)
            run(x, y)
            return y
    return numpy_eltwise(kind, x, alpha=alpha, beta=beta)


def _make_grad(size: int, algorithm: tuple[int, float, float], from_output: bool) -> Primitive | bool:
    kind, alpha, beta = algorithm
    line = describe((size,), (1,))
    hint = primitive_descriptor("eltwise_forward", FORWARD_TRAINING, kind, line, line, alpha, beta, attributes())
    if hint is None:
        return False
    descriptor = primitive_descriptor("eltwise_backward", kind, line, line, line, alpha, beta, hint, attributes())
    if descriptor is None:
        return False
    return Primitive(descriptor, [(DIFF_DST, line), (DST if from_output else SRC, line), (DIFF_SRC, line)])


def _grad(
    table: dict[str, Callable], kind: str, gy: np.ndarray, v: np.ndarray, alpha: float, beta: float
) -> np.ndarray | None:
    """gy * f' from v, f's input or output as the table's algorithms require; None if oneDNN does not support it."""
    if gy.dtype != F32 or gy.shape != v.shape or kind not in table or not _is_case(v):
        return None
    if kind == "clamp":  # oneDNN's derivative at the bounds is 0
        return None
    from_output = table is ELTWISE_FROM_OUTPUT
    key = ("grad", kind, v.size, alpha, beta, from_output)
    run = local.young.get(key)
    if run is None:
        run = recall(key, _make_grad, v.size, table[kind](alpha, beta), from_output)
    if not run:
        return None
    if gy.strides != v.strides:
        ordered = new_like(v)
        ordered[...] = gy
        gy = ordered
    gx = new_like(v)
    run(gy, v, gx)
    return gx


@in_float32(argument=1)
def eltwise_grad(kind: str, gy: np.ndarray, x: np.ndarray, *, alpha: float = 0.0, beta: float = 0.0) -> np.ndarray:
    """See `AbstractBackend.eltwise_grad`."""
    gx = _grad(ELTWISE, kind, gy, x, alpha, beta)
    return numpy_eltwise_grad(kind, gy, x, alpha=alpha, beta=beta) if gx is None else gx


@in_float32(argument=1)
def eltwise_grad_from_output(
    kind: str, gy: np.ndarray, y: np.ndarray, *, alpha: float = 0.0, beta: float = 0.0
) -> np.ndarray:
    """See `AbstractBackend.eltwise_grad_from_output`."""
    gx = _grad(ELTWISE_FROM_OUTPUT, kind, gy, y, alpha, beta)
    return numpy_eltwise_grad_from_output(kind, gy, y, alpha=alpha, beta=beta) if gx is None else gx


def _make_binary(algorithm: int, a: np.ndarray, b: np.ndarray) -> Primitive | bool:
    # one axis: fewer cases for the cache of primitives, and the fastest kernel
    if a.strides == b.strides and a.shape == b.shape:
        first = second = describe((a.size,), (1,))
    else:
        first, second = describe_dense(a), describe_dense(b)
    descriptor = primitive_descriptor("binary", algorithm, first, second, first, attributes())
    # the library's reference implementation is a hundred times slower than NumPy
    if descriptor is None or implementation(descriptor).startswith("ref"):
        return False
    return Primitive(descriptor, [(SRC, first), (SRC_1, second), (DST, first)])


def _same_order(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether a and b have the same memory order, or b has a single axis."""
    if a.shape == b.shape:
        return a.strides == b.strides and b.size > 0
    return sum([n > 1 for n in b.shape]) == 1


def _binary(algorithm: int, a: np.ndarray, b: np.ndarray, out: np.ndarray | None) -> np.ndarray | None:
    """a + b or a * b where b has a's shape, or 1 along some axes of it; None if oneDNN does not support it."""
    if a.dtype != F32 or b.dtype != F32 or a.ndim != b.ndim or not is_dense(a):
        return None
    # recorded calls use oneDNN for few elements, too, if NumPy's result would have the same memory order
    if a.size < _FEW_TO_ADD and (local.recorder is None or not _same_order(a, b)):
        return None
    if a.shape == b.shape:
        if a.strides != b.strides and not is_dense(b):
            return None
    elif not is_dense(b) or any(m not in (1, n) for m, n in zip(b.shape, a.shape)):
        return None
    if out is not None and (out.dtype != F32 or out.shape != a.shape or out.strides != a.strides):
        return None
    if out is not None and numpy_address(out) % ALIGNMENT:
        return None
    key = (algorithm, a.shape, a.strides, b.shape, b.strides)
    run = local.young.get(key)
    if run is None:
        run = recall(key, _make_binary, algorithm, a, b)
    if not run:
        return None
    y = new_like(a) if out is None else out
    run(a, b, y)
    return y


@in_float32
def add(a: np.ndarray, b: np.ndarray, *, out: np.ndarray | None = None) -> np.ndarray:
    """See `AbstractBackend.add`."""
    y = _binary(_ADD, a, b, out) if a.size >= b.size else _binary(_ADD, b, a, out)
    return numpy_add(a, b, out=out) if y is None else y


def _make_add_relu(size: int) -> Primitive | bool:
    line = describe((size,), (1,))
    attr = attributes([("eltwise", *ELTWISE["relu"](0.0, 0.0))])
    descriptor = primitive_descriptor("binary", _ADD, line, line, line, attr)
    return Primitive(descriptor, [(SRC, line), (SRC_1, line), (DST, line)]) if descriptor else False


@in_float32
def add_relu(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """See `AbstractBackend.add_relu`."""
    same = a.dtype == F32 and b.dtype == F32 and a.shape == b.shape and a.strides == b.strides
    if same and a.size >= _FEW_TO_ADD and is_dense(a):
        key = ("add_relu", a.size)
        run = local.young.get(key)
        if run is None:
            run = recall(key, _make_add_relu, a.size)
        if run:
            y = new_like(a)
            run(a, b, y)
            return y
    return numpy_add_relu(a, b)


@in_float32
def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """See `AbstractBackend.multiply`."""
    y = _binary(_MULTIPLY, a, b, None) if a.size >= b.size else _binary(_MULTIPLY, b, a, None)
    return numpy_multiply(a, b) if y is None else y
