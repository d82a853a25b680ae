"""Convolution with holes between the taps, by Chainer's older name."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.connection.convolution_2d import convolution_2d

Sizes = int | Sequence[int]


def dilated_convolution_2d(
    x: Any,
    W: Any,
    b: Any = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    dilate: Sizes = 1,
    cover_all: bool = False,
) -> Variable:
    """`convolution_2d` with `dilate` - 1 pixels between neighbouring taps of the filter; arguments as there."""
    return convolution_2d(x, W, b, stride, pad, cover_all=cover_all, dilate=dilate)
