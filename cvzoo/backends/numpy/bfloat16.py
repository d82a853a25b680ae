"""Convolution of numbers of 16 bits: a float32 without its last 16."""

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.numpy.conv import conv_2d


def rounded(x: np.ndarray) -> np.ndarray:
    """x (float32) rounded half to even to the nearest bfloat16, as float32; NaN stays NaN."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    up = bits + (((bits >> 16) & 1) + 0x7FFF)
    return np.where(np.isnan(x), x, (up & 0xFFFF0000).view(np.float32))


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
    pack: dict | None = None,
) -> np.ndarray:
    """As AbstractBackend.conv_2d_bf16 says; `pack` is left as it is."""
    return conv_2d(
        rounded(x),
        rounded(w),
        b,
        stride=stride,
        pad=pad,
        dilate=dilate,
        groups=groups,
        add=add,
        activation=activation,
        alpha=alpha,
        beta=beta,
    )
