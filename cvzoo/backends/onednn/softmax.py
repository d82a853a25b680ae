"""Softmax and its logarithm along one axis."""

import math

import numpy as np

from cvzoo.backends.float_types import in_float32
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import SoftmaxPlan
from cvzoo.backends.numpy.softmax import log_softmax as numpy_log_softmax
from cvzoo.backends.numpy.softmax import log_softmax_grad as numpy_log_softmax_grad
from cvzoo.backends.numpy.softmax import softmax as numpy_softmax
from cvzoo.backends.numpy.softmax import softmax_grad as numpy_softmax_grad
from cvzoo.backends.onednn.memory import is_dense, new_like
from cvzoo.backends.onednn.native_primitive import NativePrimitive
from cvzoo.backends.onednn.primitives import (
    DIFF_DST,
    DIFF_SRC,
    DST,
    F32,
    FORWARD_TRAINING,
    SRC,
    Primitive,
    attributes,
    describe,
    local,
    primitive_descriptor,
    recall,
    strides_of,
)

__all__ = ["log_softmax", "log_softmax_grad", "softmax", "softmax_grad"]

_SOFTMAX, _LOG_SOFTMAX = 0x30000, 0x30001
# elements of one image; below, NumPy is as fast. Not of the batch, so that an image has the same bits in any company
_FEW = 4096
_LONG = 1 << 13  # values of which the library's sums lose digits
_FEW_CLASSES = 8  # of which the library's logarithm is off by 1e-5, all one way, and NumPy's as fast


def _is_case(x: np.ndarray, axis: int) -> bool:
    """Whether oneDNN is used, or our own kernel: not along an axis that is not the innermost, where oneDNN is slow and
    sums sequentially."""
    if x.dtype != F32 or x.ndim > 6 or x.size == 0 or x.size // x.shape[0] < _FEW:
        return False
    return x.strides[axis] == 4 and is_dense(x)


def _make_long(x: np.ndarray, axis: int) -> NativePrimitive | bool:
    if native() is None:
        return False
    rows = SoftmaxPlan(math.prod(x.shape) // x.shape[axis], x.shape[axis])
    return NativePrimitive("softmax", "softmax", rows, (SRC, DST))


def _make(kind: int, x: np.ndarray, axis: int, is_grad: bool) -> Primitive | NativePrimitive | bool:
    if x.shape[axis] > _LONG:
        return _make_long(x, axis) if kind == _SOFTMAX and not is_grad else False
    layout = describe(x.shape, strides_of(x))
    plan = primitive_descriptor("softmax_forward", FORWARD_TRAINING, kind, layout, layout, axis, attributes())
    if plan is None or not is_grad:
        return Primitive(plan, [(SRC, layout), (DST, layout)]) if plan else False
    plan = primitive_descriptor("softmax_backward", kind, layout, layout, layout, axis, plan, attributes())
    return Primitive(plan, [(DST, layout), (DIFF_DST, layout), (DIFF_SRC, layout)]) if plan else False


def _forward(kind: int, x: np.ndarray, axis: int) -> np.ndarray | None:
    axis %= x.ndim
    if not _is_case(x, axis) or (kind == _LOG_SOFTMAX and x.shape[axis] <= _FEW_CLASSES):
        return None
    key = ("softmax", kind, x.shape, x.strides, axis)
    run = local.young.get(key)
    if run is None:
        run = recall(key, _make, kind, x, axis, False)
    if not run:
        return None
    y = new_like(x)
    run(x, y)
    return y


def _backward(kind: int, gy: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray | None:
    axis %= y.ndim
    if not _is_case(y, axis) or gy.dtype != F32 or gy.strides != y.strides:
        return None
    key = ("softmax_grad", kind, y.shape, y.strides, axis)
    run = local.young.get(key)
    if run is None:
        run = recall(key, _make, kind, y, axis, True)
    if not run:
        return None
    gx = new_like(y)
    run(y, gy, gx)
    return gx


@in_float32
def softmax(x: np.ndarray, *, axis: int) -> np.ndarray:
    """See `AbstractBackend.softmax`."""
    y = _forward(_SOFTMAX, x, axis)
    return numpy_softmax(x, axis=axis) if y is None else y


@in_float32
def softmax_grad(gy: np.ndarray, y: np.ndarray, *, axis: int) -> np.ndarray:
    """See `AbstractBackend.softmax_grad`."""
    gx = _backward(_SOFTMAX, gy, y, axis)
    return numpy_softmax_grad(gy, y, axis=axis) if gx is None else gx


@in_float32
def log_softmax(x: np.ndarray, *, axis: int) -> np.ndarray:
    """See `AbstractBackend.log_softmax`."""
    y = _forward(_LOG_SOFTMAX, x, axis)
    return numpy_log_softmax(x, axis=axis) if y is None else y


@in_float32
def log_softmax_grad(gy: np.ndarray, y: np.ndarray, *, axis: int) -> np.ndarray:
    """See `AbstractBackend.log_softmax_grad`."""
    gx = _backward(_LOG_SOFTMAX, gy, y, axis)
    return numpy_log_softmax_grad(gy, y, axis=axis) if gx is None else gx
