"""Inference of 3x3 convolutions by Winograd's algorithm (Lavin and Gray, 2016), from our library in C."""

import math
from typing import Literal

import numpy as np

from cvzoo.backends.interface import Dims
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import ACTIVATIONS, WinogradFiltersPlan, WinogradPlan
from cvzoo.backends.numpy.windows import out_size
from cvzoo.backends.onednn.forward_convolution import ForwardConvolution, Geometry, post_op_source
from cvzoo.backends.onednn.memory import AbstractCachedWeights, lasting_bytes
from cvzoo.backends.onednn.native_primitive import NativePrimitive
from cvzoo.backends.onednn.primitives import BIAS, DST, SRC, WEIGHTS, strides_of
from cvzoo.backends.onednn.swish import is_own_swish, make_swish

WINOGRAD = "convolution (Winograd)"  # the operation, in summaries
_FEWEST_PIXELS = 36  # of an image's result: with fewer, the transformed filters are read too seldom to pay
_FEWEST_CHANNELS = 32
_MOST_FILTER_BYTES = 64 << 20  # of the transformed filters
_NUMBERS = 18  # of a transformed filter: twice those of the filter
_WIDEST = 32  # the kernels for AVX-512 compute so many output channels at a time, and the others a part of it


class _TransformedFilters(AbstractCachedWeights):
    """Filters (O, C, 3, 3) transformed for the kernel."""

    __slots__ = ("_size", "_transform")
    layout = "transformed for Winograd's algorithm"

    def __init__(self, w: np.ndarray):
        o, c = w.shape[:2]
        self._size = _NUMBERS * 4 * c * (-(-o // _WIDEST) * _WIDEST)
        plan = WinogradFiltersPlan(o, c, *strides_of(w))
        self._transform = NativePrimitive("reorder", "winograd_filters", plan, (SRC, DST))

    def make(self, w: np.ndarray) -> np.ndarray:
        """The transformed filters."""
        transformed = lasting_bytes(self._size)
        self._transform(w, transformed)
        return transformed


def suits_winograd(x_shape: Dims, w_shape: Dims, geometry: Geometry) -> bool:
    """Whether Winograd's algorithm computes this convolution in inference.

    The rule depends on the shapes of one image and of the filters only: neither the batch, the CPU nor the number
    of threads changes an image's bits.
    """
    stride, pad, dilate, groups = geometry
    o, c = w_shape[:2]
    if w_shape[2:] != (3, 3) or (stride, dilate, groups) != ((1, 1), (1, 1), 1):
        return False
    if min(c, o) < _FEWEST_CHANNELS or c % 16 or _NUMBERS * 4 * c * o > _MOST_FILTER_BYTES:
        return False
    height, width = out_size(x_shape[2:], (3, 3), stride, pad, dilate)
    return height * width >= _FEWEST_PIXELS


def make_winograd(
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
    """The convolution of one case (see `AbstractBackend.conv_2d`); False if other kernels are to compute it."""
    if native() is None or not suits_winograd(x_shape, w.shape, geometry):
        return False
    (o, c), pad = w.shape[:2], geometry[1]
    y_shape = (x_shape[0], o, *out_size(x_shape[2:], (3, 3), (1, 1), pad, (1, 1)))
    b, _, height, width = x_shape
    sizes = (b, height, width, c, o, *y_shape[2:], pad[0], pad[2])
    plan = WinogradPlan(*sizes, has_bias, has_add + adds_last, ACTIVATIONS.get(activation, 0), alpha, beta)
    kinds = (SRC, WEIGHTS, DST, *((BIAS,) if has_bias else ()), *((post_op_source(0),) if has_add else ()))
    run = NativePrimitive(WINOGRAD, "winograd", plan, kinds)
    if is_own_swish(activation, alpha, y_shape):
        finish = make_swish(math.prod(y_shape), alpha)
        return ForwardConvolution(y_shape, _TransformedFilters(w), run, finish=finish)
    after = None if activation in ACTIVATIONS else activation
    return ForwardConvolution(y_shape, _TransformedFilters(w), run, after=after)
