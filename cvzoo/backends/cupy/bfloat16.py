"""Convolution of numbers of 16 bits on a GPU: of arrays of bfloat16, summed in float32."""

from typing import Any

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.cupy.conv import convolved, finished
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.float_types import bfloat16

__all__ = ["conv_2d_bf16"]

_PACK = "cupy bf16"


def to_bits(x: Any) -> Any:
    """x (float32) rounded half to even to bfloat16, as its bits: uint16."""
    return x.astype(bfloat16()).view(cupy().uint16)


def from_bits(bits: Any) -> Any:
    """What the bits mean, float32, lying as they do."""
    return bits.view(bfloat16()).astype(cupy().float32)


def conv_2d_bf16(
    x: Any,
    w: Any,
    b: Any,
    *,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
    add: Any = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    out_bits: bool = False,
    pack: dict | None = None,
) -> Any:
    """See `AbstractBackend.conv_2d_bf16`."""
    xp = cupy()
    kind = bfloat16()
    short = None if pack is None else pack.get(_PACK)
    if short is None:
        short = w.astype(kind)
        if pack is not None:
            pack[_PACK] = short
    y = convolved(
        x.view(kind) if x.dtype == xp.uint16 else x.astype(kind),
        short,
        stride=stride,
        pad=pad,
        dilate=dilate,
        groups=groups,
        out_dtype=xp.float32,
        pack=pack,
    )
    if add is not None and add.dtype == xp.uint16:
        add = from_bits(add)
    y = finished(y, b, add, activation, alpha, beta)
    return to_bits(y) if out_bits else y
