"""int8 convolutions and matrix products from our library in C, for CPUs without int8 dot products (VNNI)."""

import math
from typing import Literal

import numpy as np

from cvzoo.backends.interface import Dims
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import BYTES_OR_FLOATS, ROWS_ACTIVATIONS, Int8Plan
from cvzoo.backends.numpy.windows import out_size
from cvzoo.backends.onednn.forward_convolution import ForwardConvolution, Geometry, post_op_source
from cvzoo.backends.onednn.memory import AbstractCachedWeights, lasting_bytes
from cvzoo.backends.onednn.native_primitive import NativePrimitive
from cvzoo.backends.onednn.primitives import BIAS, DST, SCALES, SRC, WEIGHTS

_PANEL = 16  # filters, or channels of a depthwise convolution, that the kernel computes at a time
_MOST_PRODUCTS = 2**31 // (256 * 128)  # of which the sum fits into 32 bits


def has_int8_sums() -> bool:
    """Whether they are faster than float32: the library is there, and the CPU adds products of 16 bits in pairs."""
    library = native()
    return library is not None and library.instructions != "plain"


class _WidenedFilters(AbstractCachedWeights):
    """int8 filters (O, C, KH, KW) as int16 in panels of 16 filters, [tap][channel / 2][filter][2]."""

    __slots__ = ()
    layout = "int16, two channels side by side"

    def make(self, w: np.ndarray) -> np.ndarray:
        """The filters in that order."""
        o, c, *window = w.shape
        panels = -(-o // _PANEL)
        padded = np.zeros((panels * _PANEL, -(-c // 2) * 2, *window), np.int16)
        padded[:o, :c] = w
        pairs = padded.reshape(panels, _PANEL, -1, 2, math.prod(window))
        return _lasting(pairs.transpose(0, 4, 2, 1, 3))


class _WidenedDepthwise(AbstractCachedWeights):
    """int8 filters (C, 1, KH, KW) as int16 in panels of 16 channels, two taps side by side; first those of the channels
    0 to 3 and 8 to 11."""

    __slots__ = ()
    layout = "int16, two taps side by side"

    def make(self, w: np.ndarray) -> np.ndarray:
        """The filters in that order."""
        c, taps = len(w), math.prod(w.shape[2:])
        panels = -(-c // _PANEL)
        padded = np.zeros((panels * _PANEL, -(-taps // 2) * 2), np.int16)
        padded[:c, :taps] = w.reshape(c, taps)
        fours = padded.reshape(panels, 2, 2, 4, -1, 2)  # half of a register, four of its eight channels, one of them
        return _lasting(fours.transpose(0, 4, 2, 1, 3, 5))


def _lasting(w: np.ndarray) -> np.ndarray:
    made = lasting_bytes(w.nbytes)
    made.view(np.int16).reshape(w.shape)[:] = w
    return made


def make_int8_sums(
    x_shape: Dims,
    x_dtype: np.dtype,
    w_shape: Dims,
    has_bias: bool,
    geometry: Geometry,
    added: np.dtype | None,
    activation: str | None,
    alpha: float,
    beta: float,
    add_scale: float | None,
    out_scale: float | None,
    out_dtype: np.dtype,
) -> ForwardConvolution | Literal[False]:
    """The convolution of one case (see `AbstractBackend.conv_2d_int8`); False if the kernel does not have it.

    added: the addend's dtype, None: there is none
    """
    stride, pad, dilate, groups = geometry
    o, c, *_ = w_shape
    window = w_shape[2], w_shape[3]
    is_depthwise = groups == x_shape[1] == o and groups > 1
    if native() is None or not (groups == 1 or is_depthwise) or (c + 1) * math.prod(window) > _MOST_PRODUCTS:
        return False
    if activation not in ROWS_ACTIVATIONS or (activation == "swish" and alpha <= 0):
        return False
    shape = (x_shape[0], o, *out_size((x_shape[2], x_shape[3]), window, stride, pad, dilate))
    plan = Int8Plan(
        *(x_shape[0], *x_shape[2:], x_shape[1], o, *shape[2:], *window, *stride, *dilate, pad[0], pad[2]),
        *(is_depthwise, BYTES_OR_FLOATS[x_dtype.name], -1 if added is None else BYTES_OR_FLOATS[added.name]),
        *(BYTES_OR_FLOATS[out_dtype.name], has_bias, ROWS_ACTIVATIONS[activation], alpha, beta),
        *(add_scale or 0.0, 0.0 if out_scale is None else np.float32(1) / np.float32(out_scale)),
    )
    bias, add = (BIAS,) if has_bias else (), () if added is None else (post_op_source(0),)
    run = NativePrimitive("convolution", "int8_convolution", plan, (SRC, WEIGHTS, DST, *bias, *add, SCALES | WEIGHTS))
    return ForwardConvolution(shape, _WidenedDepthwise() if is_depthwise else _WidenedFilters(), run)
