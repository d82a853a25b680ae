"""Linear layers, and convolutions to single pixels, from our library in C: products of rows with a matrix read once."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from cvzoo.backends.interface import Dims
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import ROWS_ACTIVATIONS, RowsMatrixPlan, RowsPlan
from cvzoo.backends.onednn.forward_convolution import ForwardConvolution, Geometry, post_op_source
from cvzoo.backends.onednn.memory import AbstractCachedWeights, lasting_bytes
from cvzoo.backends.onednn.native_primitive import NativePrimitive
from cvzoo.backends.onednn.primitives import BIAS, DST, SRC, WEIGHTS, strides_of

_WIDEST = 32  # the kernels for AVX-512 compute so many columns at a time, and the others a part of it


class ReadingOrder(AbstractCachedWeights):
    """A matrix (O, C), or filters as one of (O, KH * KW * C), in the order in which the kernel reads it."""

    __slots__ = ("_reorder", "_size")
    layout = "in the order of a product with rows"

    def __init__(self, w: np.ndarray):
        o, c = len(w), math.prod(w.shape[1:])
        self._size = 4 * c * (-(-o // _WIDEST) * _WIDEST)
        strides = strides_of(w)[:2] if c == w.shape[1] else (c, 1)
        self._reorder = NativePrimitive("reorder", "rows_matrix", RowsMatrixPlan(o, c, *strides), (SRC, DST))

    def make(self, w: np.ndarray) -> np.ndarray:
        """The matrix in that order."""
        made = lasting_bytes(self._size)
        if math.prod(w.shape[2:]) > 1:
            w = np.ascontiguousarray(w.transpose(0, 2, 3, 1))
        self._reorder(w, made)
        return made


def product_of_rows(
    operation: str,
    n: int,
    strides: Sequence[int],
    w_shape: Sequence[int],
    has_bias: bool,
    has_add: bool = False,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
) -> NativePrimitive:
    """The kernel for n rows (n, C) with these strides in elements."""
    o, c = w_shape[:2]
    plan = RowsPlan(n, c, o, *strides, has_bias, has_add, ROWS_ACTIVATIONS[activation], alpha, beta)
    kinds = (SRC, WEIGHTS, DST, *((BIAS,) if has_bias else ()), *((post_op_source(0),) if has_add else ()))
    return NativePrimitive(operation, "rows", plan, kinds)


def make_to_single_pixels(
    x_shape: Dims,
    w: np.ndarray,
    has_bias: bool,
    geometry: Geometry,
    has_add: bool,
    activation: str | None,
    alpha: float,
    beta: float,
    adds_last: bool = False,
) -> ForwardConvolution | Literal[False]:
    """A convolution of channels-last maps as large as the filters; False if other kernels are to compute it.

    Of few maps the cost is that of reading the filters, which oneDNN reads at half of the speed; of many it takes
    long sums, such as the 12,544 products of a box head, 1.6 times as long with AVX2.
    """
    _, pad, dilate, groups = geometry
    if x_shape[2:] != w.shape[2:] or any(pad) or groups != 1 or dilate != (1, 1) or adds_last:
        return False
    if activation not in ROWS_ACTIVATIONS or (activation == "swish" and alpha <= 0) or native() is None:
        return False
    n, c = x_shape[0], math.prod(x_shape[1:])
    run = product_of_rows("convolution", n, (c, 1), (len(w), c), has_bias, has_add, activation, alpha, beta)
    return ForwardConvolution((n, len(w), 1, 1), ReadingOrder(w), run)
