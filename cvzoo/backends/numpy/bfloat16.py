"""Convolution in bfloat16, the upper 16 bits of a float32."""

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.numpy.conv import conv_2d

__all__ = ["conv_2d_bf16"]


def rounded(x: np.ndarray) -> np.ndarray:
    """x (float32) rounded half to even to the nearest bfloat16, as float32; NaN stays NaN."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    # adds just below half of the last kept bit, and 1 more where that bit is odd: halves go to even
    up = bits + (((bits >> 16) & 1) + 0x7FFF)
    return np.where(np.isnan(x), x, (up & 0xFFFF0000).view(np.float32))


def to_bits(x: np.ndarray) -> np.ndarray:
    """x (float32) rounded to bfloat16, as its bits: uint16."""
    bits = (rounded(x).view(np.uint32) >> 16).astype(np.uint16)
    # the quiet NaN
    bits[np.isnan(x)] = 0x7FC0  # the bits that distinguish NaN from infinity may be the dropped ones
    return bits


def from_bits(bits: np.ndarray) -> np.ndarray:
    """The values of bfloat16 bits as float32, in the same memory order."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def conv_2d_bf16(
    x: np.ndarray,
    w: np.ndarray,
    b: np.ndarray | None,
    *,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
    add: np.ndarray | None = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    out_bits: bool = False,
    pack: dict | None = None,
) -> np.ndarray:
    """See `AbstractBackend.conv_2d_bf16`; `pack` is left as it is."""
    y = conv_2d(
        from_bits(x) if x.dtype == np.uint16 else rounded(x),
        rounded(w),
        b,
        stride=stride,
        pad=pad,
        dilate=dilate,
        groups=groups,
        add=from_bits(add) if add is not None and add.dtype == np.uint16 else add,
        activation=activation,
        alpha=alpha,
        beta=beta,
    )
    return to_bits(y) if out_bits else y
