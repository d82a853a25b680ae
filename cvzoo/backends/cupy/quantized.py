"""Kernels of eight-bit integers on a GPU: exact sums of integers, and float32 only after them.

Sums of up to 514 products of bytes are below 2 ** 24, and float32 holds them exactly in any order; longer sums are
made of such pieces.
"""

from typing import Any

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.cuda.blas import gemm
from cvzoo.backends.cuda.quantize import quantize as quantize_floats
from cvzoo.backends.cupy.conv import convolved, finished
from cvzoo.backends.cupy.library import cupy

__all__ = ["conv_2d_int8", "linear_int8", "quantize"]

_LONGEST = (1 << 24) // (255 * 128)
_PACK = "cupy bytes"


def quantize(x: Any, *, scale: float, signed: bool) -> Any:
    """See `AbstractBackend.quantize`."""
    return quantize_floats(x, scale=scale, signed=signed)


def _floats(w: Any, pack: dict | None) -> Any:
    """w as float32, cached in `pack`."""
    floats = None if pack is None else pack.get(_PACK)
    if floats is None:
        floats = w.astype(np.float32)
        if pack is not None:
            pack[_PACK] = floats
    return floats


def conv_2d_int8(
    x: Any,
    w: Any,
    scale: Any,
    b: Any,
    *,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
    add: Any = None,
    add_scale: float | None = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    out_scale: float | None = None,
    out_signed: bool = False,
    pack: dict | None = None,
) -> Any:
    """See `AbstractBackend.conv_2d_int8`."""
    window = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
    y = _sums(x, w, window, pack) * scale[:, None, None].astype(np.float32, copy=False)
    if add is not None and add.dtype != np.float32:
        add = add.astype(np.float32)
    if add is not None and add_scale is not None:
        add = add * np.float32(add_scale)
    y = finished(y, None if b is None else b.astype(np.float32, copy=False), add, activation, alpha, beta)
    return y if out_scale is None else quantize(y, scale=out_scale, signed=out_signed)


def _sums(x: Any, w: Any, window: dict[str, Any], pack: dict | None) -> Any:
    """The convolution's sums of integers, rounded to float32."""
    c, taps = w.shape[1], w.shape[2] * w.shape[3]
    if c * taps <= _LONGEST:
        return convolved(x.astype(np.float32), _floats(w, pack), is_exact=True, pack=pack, **window)
    if window["groups"] > 1 or taps > _LONGEST:
        return convolved(x.astype(np.float64), w.astype(np.float64), **window).astype(np.float32)
    x, w = x.astype(np.float32), _floats(w, pack)
    step = _LONGEST // taps
    total: Any = None
    for first in range(0, c, step):
        part = convolved(x[:, first : first + step], w[:, first : first + step], is_exact=True, **window)
        part = part.astype(np.int32)
        total = part if total is None else total + part
    return total.astype(np.float32)


def linear_int8(x: Any, w: Any, scale: Any, b: Any, *, pack: dict | None = None) -> Any:
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
