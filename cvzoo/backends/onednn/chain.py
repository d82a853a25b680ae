"""A chain of element-wise steps as one primitive, in which values stay in registers."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.float_types import in_float32
from cvzoo.backends.numpy.chain import chain as numpy_chain
from cvzoo.backends.onednn.algorithms import ELTWISE
from cvzoo.backends.onednn.eltwise import eltwise
from cvzoo.backends.onednn.memory import describe_dense, is_dense, new_like
from cvzoo.backends.onednn.primitives import (
    DST,
    F32,
    SRC,
    SRC_1,
    Handle,
    Primitive,
    attributes,
    describe,
    implementation,
    local,
    primitive_descriptor,
    recall,
)
from cvzoo.backends.onednn.swish import is_own_swish

__all__ = ["chain"]

_BINARY = {"add": 0x1FFF0, "multiply": 0x1FFF1, "divide": 0x1FFF4, "subtract": 0x1FFF5}
_ZERO = np.zeros(1, F32)


def _is_case(x: np.ndarray, others: Sequence[np.ndarray]) -> bool:
    if x.dtype != F32 or x.size == 0 or not is_dense(x):
        return False
    if others and x.ndim in (3, 5) and x.size == x.shape[0] * x.shape[1]:
        return False  # version 3.2 reads per-channel operands at wrong addresses then
    return all(
        other.dtype == F32
        and other.ndim == x.ndim
        and is_dense(other)
        and all(m in (1, n) for m, n in zip(other.shape, x.shape))
        for other in others
    )


def _looks(x: np.ndarray, others: Sequence[np.ndarray]) -> tuple[Handle, list[Handle], Handle]:
    """Memory descriptors of the arrays, flattened if all have the same format; and of a single zero."""
    if all(other.shape == x.shape and other.strides == x.strides for other in others):
        return describe((x.size,), (1,)), [describe((x.size,), (1,)) for _ in others], describe((1,), (1,))
    looks = [describe_dense(other) for other in others]
    return describe_dense(x), looks, describe((1,) * x.ndim, (1,) * x.ndim)


def _make(x: np.ndarray, steps: Sequence[tuple], others: Sequence[np.ndarray]) -> Primitive | bool:
    source, looks, zero = _looks(x, others)
    remaining = iter(looks)
    if steps[0][0] in _BINARY:
        first, second, steps = _BINARY[steps[0][0]], next(remaining), steps[1:]
    else:
        # the primitive is a binary one: without a first operand it computes x + 0
        first, second = _BINARY["add"], zero
    post_ops: list[tuple] = []
    slots = [(SRC, source), (SRC_1, second), (DST, source)]
    for k, (kind, *numbers) in enumerate(steps):
        if kind in _BINARY:
            look = next(remaining)
            post_ops.append(("binary", _BINARY[kind], look.address))
            # DNNL_ARG_ATTR_MULTIPLE_POST_OP(k) | DNNL_ARG_SRC_1
            slots.append((32768 * (k + 1) | SRC_1, look))
        elif kind in ELTWISE:
            post_ops.append(("eltwise", *ELTWISE[kind](*numbers)))
        else:
            return False
    plan = primitive_descriptor("binary", first, source, second, source, attributes(post_ops))
    # the library's reference implementation is a hundred times slower than NumPy
    if plan is None or implementation(plan).startswith("ref"):
        return False
    return Primitive(plan, slots)


@in_float32
def chain(x: np.ndarray, steps: Sequence[tuple], others: Sequence[np.ndarray]) -> np.ndarray:
    """See `AbstractBackend.chain`."""
    for k, (kind, *numbers) in enumerate(steps if x.dtype == F32 and is_dense(x) else ()):
        if is_own_swish(kind, numbers[0] if numbers else 0.0, x.shape):
            n = sum(before in _BINARY for before, *_ in steps[:k])
            y = eltwise(kind, chain(x, steps[:k], others[:n]) if k else x, alpha=numbers[0])
            return chain(y, steps[k + 1 :], others[n:]) if steps[k + 1 :] else y
    if steps and _is_case(x, others):
        key = ("chain", tuple(steps), x.shape, x.strides, *[(other.shape, other.strides) for other in others])
        run = local.young.get(key)
        if run is None:
            run = recall(key, _make, x, steps, others)
        if run:
            y = new_like(x)
            arrays = list(others) if steps[0][0] in _BINARY else [_ZERO, *others]
            run(x, arrays[0], y, *arrays[1:])
            return y
    return numpy_chain(x, steps, others)
