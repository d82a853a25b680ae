"""Matrix products by cuBLAS, and separable filters by them; integers by CuPy."""

import math

import numpy as np

from cvzoo.backends.cuda.blas import TYPES, gemm
from cvzoo.backends.cuda.blas_lt import gemm_with_bias
from cvzoo.backends.cupy.eltwise import add as add_arrays
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.transfer import constants
from cvzoo.typing.aliases import Array

__all__ = ["linear", "matmul", "separable_2d"]

_FLOATS = frozenset(TYPES) - {"int8", "int32"}


def is_float(*arrays: Array) -> bool:
    """Whether all are of one dtype that cuBLAS computes with."""
    dtype = arrays[0].dtype
    return dtype.name in _FLOATS and all(each.dtype == dtype for each in arrays)


def matmul(a: Array, b: Array, *, scale: float = 1.0, add: Array | None = None) -> Array:
    """See `AbstractBackend.matmul`."""
    xp = cupy()
    if not is_float(a, b):
        y = xp.matmul(a, b)
        if scale != 1:
            y = y * float(scale)
        return y if add is None else y + add
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    m, n = a.shape[-2], b.shape[-1]
    y = xp.empty((*lead, m, n), a.dtype)
    if not y.size:
        return y
    if b.ndim == 2 and a.ndim > 2 and a.flags.c_contiguous:  # one product instead of a batch of small ones
        rows = math.prod(lead) * m
        gemm(a.reshape(rows, a.shape[-1]), b, y.reshape(rows, n), alpha=scale)
    elif not lead:
        gemm(a, b, y, alpha=scale)
    else:
        count = math.prod(lead)
        gemm(_stacked(a, lead, count), _stacked(b, lead, count), y.reshape(count, m, n), alpha=scale)
    return y if add is None else add_arrays(y, add)


def _stacked(x: Array, lead: tuple[int, ...], count: int) -> Array:
    """(G, R, C) of x (..., R, C), which broadcasts to G matrices; a view where its order allows."""
    own = x.shape[:-2]
    if math.prod(own) == 1:
        return x.reshape(1, *x.shape[-2:])
    if own != lead:
        x = cupy().broadcast_to(x, (*lead, *x.shape[-2:]))
    return x.reshape(count, *x.shape[-2:])


def linear(x: Array, w: Array, b: Array | None, *, pack: dict | None = None) -> Array:
    """See `AbstractBackend.linear`; `pack` is not used."""
    xp = cupy()
    if not is_float(x, w):
        y = xp.matmul(x, w.T)
        return y if b is None else y + b
    y = xp.empty((x.shape[0], w.shape[0]), x.dtype)
    if not y.size:
        return y
    if b is None:
        return gemm(x, w.T, y)
    if b.dtype == x.dtype and gemm_with_bias(x, w.T, b, y):
        return y
    return add_arrays(gemm(x, w.T, y), b, out=y)


def separable_2d(x: Array, rows: np.ndarray, columns: np.ndarray) -> Array:
    """See `AbstractBackend.separable_2d`; the weights are cached on the GPU."""
    b, c, h, w = x.shape
    oh, ow = len(rows), len(columns)
    y = matmul(_constant(rows.astype(x.dtype)), x.transpose(0, 2, 3, 1).reshape(b, h, w * c))  # (B, OH, W * C)
    y = matmul(_constant(columns.astype(x.dtype)), y.reshape(b * oh, w, c))  # (B * OH, OW, C)
    return y.reshape(b, oh, ow, c).transpose(0, 3, 1, 2)


def _constant(weights: np.ndarray) -> Array:
    return constants.get(("weights", weights.shape, weights.dtype.str, weights.tobytes()), lambda: weights)
