"""Convolution of bfloat16 arrays on a GPU, summed in float32."""

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.cupy.conv import convolved, finished
from cvzoo.backends.float_types import bfloat16
from cvzoo.typing.aliases import Array

__all__ = ["conv_2d_bf16"]

_PACK = "cupy bf16"


def to_bits(x: Array) -> Array:
    """x (float32) rounded half to even to bfloat16, as its bits: uint16."""
    return x.astype(bfloat16()).view(np.uint16)


def from_bits(bits: Array) -> Array:
    """float32 of the bits of bfloat16, in their memory format."""
    return bits.view(bfloat16()).astype(np.float32)


def conv_2d_bf16(
    x: Array,
    w: Array,
    b: Array | None,
    *,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
    add: Array | None = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    out_bits: bool = False,
    pack: dict | None = None,
) -> Array:
    """See `AbstractBackend.conv_2d_bf16`."""
    dtype = bfloat16()
    filters = None if pack is None else pack.get(_PACK)
    if filters is None:
        filters = w.astype(dtype)
        if pack is not None:
            pack[_PACK] = filters
    y = convolved(
        x.view(dtype) if x.dtype == np.uint16 else x.astype(dtype),
        filters,
        stride=stride,
        pad=pad,
        dilate=dilate,
        groups=groups,
        out_dtype=np.float32,
        pack=pack,
    )
    if add is not None and add.dtype == np.uint16:
        add = from_bits(add)
    y = finished(y, b, add, activation, alpha, beta)
    return to_bits(y) if out_bits else y
