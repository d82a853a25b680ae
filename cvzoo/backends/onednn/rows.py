"""Linear layers, and convolutions of single pixels, from our library in C: products of rows with a matrix read once."""

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
    """A matrix (O, C), or filters (O, C, 1, 1), in the order in which the kernel reads it."""

    __slots__ = ("_reorder", "_size")
    layout = "in the order of a product with rows"

    def __init__(self, w: np.ndarray):
        o, c = w.shape[:2]
        self._size = 4 * c * (-(-o // _WIDEST) * _WIDEST)
        self._reorder = NativePrimitive("reorder", "rows_matrix", RowsMatrixPlan(o, c, *strides_of(w)[:2]), (SRC, DST))

    def make(self, w: np.ndarray) -> np.ndarray:
        """The matrix in that order."""
        made = lasting_bytes(self._size)
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


def make_single_pixels(
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
    """A 1x1 convolution of maps of one pixel; False if other kernels are to compute it.

    The cost is that of reading the filters, which oneDNN reads at half of the speed.
    """
    _, pad, _, groups = geometry
    if x_shape[2:] != (1, 1) or w.shape[2:] != (1, 1) or any(pad) or groups != 1 or adds_last:
        return False
    if activation not in ROWS_ACTIVATIONS or (activation == "swish" and alpha <= 0) or native() is None:
        return False
    run = product_of_rows(
        "convolution", x_shape[0], (x_shape[1], 1), w.shape, has_bias, has_add, activation, alpha, beta
    )
    return ForwardConvolution((x_shape[0], w.shape[0], 1, 1), ReadingOrder(w), run)
