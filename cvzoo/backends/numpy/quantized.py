"""int8 kernels: exact sums of integers, converted to float32 at the end."""

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.float_types import in_float32
from cvzoo.backends.numpy.conv import conv_2d
from cvzoo.backends.numpy.eltwise import eltwise
from cvzoo.backends.numpy.memory import channels_last

__all__ = ["conv_2d_int8", "linear_int8", "quantize"]

_F32 = np.dtype(np.float32)


@in_float32(rounds=False)
def quantize(x: np.ndarray, *, scale: float, signed: bool) -> np.ndarray:
    """See `AbstractBackend.quantize`."""
    low, high, dtype = (-128, 127, np.int8) if signed else (0, 255, np.uint8)
    # times the inverse, as oneDNN does, so that both round alike
    y = np.rint(np.asarray(x, _F32) * (np.float32(1) / np.float32(scale)))
    y = np.minimum(np.maximum(y, low, out=y), high, out=y)
    # the conversion of NaN to an integer is undefined
    y = np.nan_to_num(y, copy=False).astype(dtype)
    return channels_last(y) if y.ndim == 4 else np.ascontiguousarray(y)


def conv_2d_int8(
    x: np.ndarray,
    w: np.ndarray,
    scale: np.ndarray,
    b: np.ndarray | None,
    *,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
    add: np.ndarray | None = None,
    add_scale: float | None = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    out_scale: float | None = None,
    out_signed: bool = False,
    pack: dict | None = None,
) -> np.ndarray:
    """See `AbstractBackend.conv_2d_int8`; `pack` is left as it is."""
    window = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
    # float64 holds every sum of products of bytes exactly, and has fast matrix products
    y = conv_2d(x.astype(np.float64), w.astype(np.float64), None, **window).astype(_F32)
    y *= np.asarray(scale, _F32)[:, None, None]
    if b is not None:
        y += np.asarray(b, _F32)[:, None, None]
    if add is not None:
        y += np.asarray(add, _F32) * np.float32(1 if add_scale is None else add_scale)
    if activation is not None:
        y = eltwise(activation, y, alpha=alpha, beta=beta)
    return y if out_scale is None else quantize(y, scale=out_scale, signed=out_signed)


def linear_int8(
    x: np.ndarray, w: np.ndarray, scale: np.ndarray, b: np.ndarray | None, *, pack: dict | None = None
) -> np.ndarray:
    """See `AbstractBackend.linear_int8`; `pack` is left as it is."""
    y = (x.astype(np.float64) @ w.T.astype(np.float64)).astype(_F32)
    y *= np.asarray(scale, _F32)
    if b is not None:
        y += np.asarray(b, _F32)
    return y
