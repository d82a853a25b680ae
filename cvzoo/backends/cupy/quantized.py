"""Quantization, and convolution and matrix products of int8 on a GPU, with exact sums.

Sums of up to 514 products of int8 values are below 2 ** 24, which float32 represents exactly in any order of summation;
longer sums are split.
"""

import functools
import operator
from typing import TypedDict

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.cuda.blas import gemm
from cvzoo.backends.cuda.elementwise import elementwise
from cvzoo.backends.cupy.conv import convolved, finished
from cvzoo.backends.cupy.library import cupy
from cvzoo.typing.aliases import Array

__all__ = ["conv_2d_int8", "linear_int8", "quantize"]

_LONGEST = (1 << 24) // (255 * 128)
_PACK = "cupy bytes"


class _Window(TypedDict):
    stride: Pair
    pad: Pad
    dilate: Pair
    groups: int


def _floats(w: Array, pack: dict | None) -> Array:
    """w as float32, cached in `pack`."""
    floats = None if pack is None else pack.get(_PACK)
    if floats is None:
        floats = w.astype(np.float32)
        if pack is not None:
            pack[_PACK] = floats
    return floats


def conv_2d_int8(
    x: Array,
    w: Array,
    scale: Array,
    b: Array | None,
    *,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
    add: Array | None = None,
    add_scale: float | None = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    out_scale: float | None = None,
    out_signed: bool = False,
    pack: dict | None = None,
) -> Array:
    """See `AbstractBackend.conv_2d_int8`."""
    window: _Window = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
    y = _sums(x, w, window, pack) * scale[:, None, None].astype(np.float32, copy=False)
    if add is not None and add.dtype != np.float32:
        add = add.astype(np.float32)
    if add is not None and add_scale is not None:
        add = add * np.float32(add_scale)
    y = finished(y, None if b is None else b.astype(np.float32, copy=False), add, activation, alpha, beta)
    return y if out_scale is None else quantize(y, scale=out_scale, signed=out_signed)


def _sums(x: Array, w: Array, window: _Window, pack: dict | None) -> Array:
    """The convolution's sums of integers, rounded to float32."""
    c, taps = w.shape[1], w.shape[2] * w.shape[3]
    if c * taps <= _LONGEST:
        return convolved(x.astype(np.float32), _floats(w, pack), is_exact=True, pack=pack, **window)
    if window["groups"] > 1 or taps > _LONGEST:
        return convolved(x.astype(np.float64), w.astype(np.float64), **window).astype(np.float32)
    x, w = x.astype(np.float32), _floats(w, pack)
    step = _LONGEST // taps
    parts = (slice(first, first + step) for first in range(0, c, step))
    sums = (convolved(x[:, part], w[:, part], is_exact=True, **window).astype(np.int32) for part in parts)
    return functools.reduce(operator.iadd, sums).astype(np.float32)


def linear_int8(x: Array, w: Array, scale: Array, b: Array | None, *, pack: dict | None = None) -> Array:
    """See `AbstractBackend.linear_int8`."""
    xp = cupy()
    x, w = x.astype(np.float32), _floats(w, pack)
    total = xp.zeros((x.shape[0], w.shape[0]), np.int32)
    for first in range(0, x.shape[1], _LONGEST):
        part = xp.empty(total.shape, np.float32)
        gemm(x[:, first : first + _LONGEST], w[:, first : first + _LONGEST].T, part, is_exact=True)
        total = total + part.astype(np.int32)
    y = total.astype(np.float32) * scale.astype(np.float32, copy=False)
    return y if b is None else y + b.astype(np.float32, copy=False)


# rint() rounds half to even; NaN becomes 0
_BODY = "T z = ew_clip(rint(x0 * n0), n1, n2); y = z == z ? {0}(z) : {0}(0);"


def quantize(x: Array, *, scale: float, signed: bool) -> Array:
    """See `AbstractBackend.quantize`; NaN becomes 0."""
    xp = cupy()
    dtype, low, high = (np.int8, -128, 127) if signed else (np.uint8, 0, 255)
    if x.ndim == 4:
        b, c, h, w = x.shape
        y = xp.empty((b, h, w, c), dtype).transpose(0, 3, 1, 2)
    else:
        y = xp.empty(x.shape, dtype)
    factor = np.float32(1) / np.float32(scale)
    name, body = ("quantize_signed", _BODY.format("i8")) if signed else ("quantize", _BODY.format("u8"))
    return elementwise(name, body, (x.astype(np.float32, copy=False),), numbers=(float(factor), low, high), out=y)
