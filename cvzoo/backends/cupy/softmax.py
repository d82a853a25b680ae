"""Softmax and its logarithm along one axis; integers as float64."""

import numpy as np

from cvzoo.backends.cuda.elementwise import are_floats
from cvzoo.backends.cuda.layout import as_dense, rows_along, same_order
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.gpu_kernels import KernelModule
from cvzoo.typing.aliases import Array

__all__ = ["log_softmax", "log_softmax_grad", "softmax", "softmax_grad"]

_KERNELS = KernelModule("softmax")
_FORWARD, _GRAD = "softmax", "softmax_grad"


def softmax(x: Array, *, axis: int) -> Array:
    """See `AbstractBackend.softmax`."""
    return _launched(_FORWARD, (x,), axis, logarithmic=False)


def softmax_grad(gy: Array, y: Array, *, axis: int) -> Array:
    """See `AbstractBackend.softmax_grad`."""
    return _launched(_GRAD, (gy, y), axis, logarithmic=False)


def log_softmax(x: Array, *, axis: int) -> Array:
    """See `AbstractBackend.log_softmax`."""
    return _launched(_FORWARD, (x,), axis, logarithmic=True)


def log_softmax_grad(gy: Array, y: Array, *, axis: int) -> Array:
    """See `AbstractBackend.log_softmax_grad`."""
    return _launched(_GRAD, (gy, y), axis, logarithmic=True)


def _launched(kernel: str, arrays: tuple[Array, ...], axis: int, *, logarithmic: bool) -> Array:
    xp = cupy()
    dtype = arrays[-1].dtype if are_floats(*arrays) else np.dtype(np.float64)
    last = as_dense(xp, arrays[-1].astype(dtype, copy=False))
    arrays = (*[same_order(xp, each.astype(dtype, copy=False), last) for each in arrays[:-1]], last)
    y = xp.empty_like(last)
    if not y.size:
        return y
    rows = rows_along(last, axis)
    _KERNELS.launch(
        rows.kernel(kernel, dtype),
        rows.grid,
        rows.block,
        (*arrays, y, np.int64(rows.count), np.int32(rows.length), np.int64(rows.inner), np.int32(logarithmic)),
    )
    return y
