"""Convolution with holes between the taps, by Chainer's older name."""

from collections.abc import Sequence

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.connection.convolution_2d import convolution_2d
from cvzoo.typing.aliases import Array

Sizes = int | Sequence[int]


def dilated_convolution_2d(
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    dilate: Sizes = 1,
    cover_all: bool = False,
) -> Variable:
    """`convolution_2d` with `dilate` - 1 pixels between neighboring taps of the filter; the same arguments."""
    return convolution_2d(x, W, b, stride, pad, cover_all=cover_all, dilate=dilate)
