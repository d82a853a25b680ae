"""Convolution of each channel by filters of its own."""

from collections.abc import Sequence

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import reshape, transpose
from cvzoo.functions.connection.convolution_2d import convolution_2d
from cvzoo.typing.aliases import Array

Sizes = int | Sequence[int]


def depthwise_convolution_2d(
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    *,
    dilate: Sizes = 1,
) -> Variable:
    """(B, C * M, OH, OW): channel c becomes the channels c * M to c * M + M - 1, each by a filter of its own.

    x: (B, C, H, W)
    W: (M, C, KH, KW), M filters for each channel
    b: (C * M,) or None
    stride, pad, dilate: as in convolution_2d
    Raises ShapeError if channels or sizes do not fit, DtypeError if dtypes differ.
    """
    x = as_variable(x)
    W = as_variable(W)
    if W.shape is not None and (len(W.shape) != 4 or x.ndim != 4 or W.shape[1] != x.shape[1]):
        raise ShapeError(
            "depthwise_convolution_2d: W needs filters for each of x's channels",
            expected="x (B, C, H, W), W (M, C, KH, KW)",
            got=f"x {x.shape}, W {W.shape}",
        )
    m, c, kh, kw = W.shape or (1, 1, 1, 1)
    if m != 1:
        W = transpose(W, (1, 0, 2, 3))
    filters = reshape(W, (c * m, 1, kh, kw))
    return convolution_2d(x, filters, b, stride, pad, dilate=dilate, groups=c)
