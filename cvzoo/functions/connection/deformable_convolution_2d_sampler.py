"""Deformable convolution."""

from collections.abc import Sequence

import numpy as np

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.transfer import to_device_of
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.functions.array.axes import reshape, transpose
from cvzoo.functions.array.dtypes import fits_weight, for_product, widened
from cvzoo.functions.array.pixels_at import pixels_between
from cvzoo.functions.connection.linear import linear
from cvzoo.functions.math.arithmetic import add
from cvzoo.shapes.check import pair
from cvzoo.shapes.sizes import conv_out_size
from cvzoo.typing.aliases import Array

Sizes = int | Sequence[int]
_NAME = "deformable_convolution_2d_sampler"


@on_device_of_arguments
def deformable_convolution_2d_sampler(
    x: Variable | Array,
    offset: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
) -> Variable:
    """Deformable convolution: `convolution_2d` with bilinear sampling at positions shifted by `offset`, (B, O, OH, OW).

    x: (B, C, H, W)
    offset: (B, 2 * KH * KW, OH, OW), pixels: x offset of each tap, row by row of the filter, then y offsets
    W: (O, C, KH, KW)
    b: (O,) or None
    stride, pad: a number or (rows, columns); x is padded with zeros
    Raises ShapeError if channels or sizes do not fit, DtypeError if dtypes differ.
    Source: Dai et al., "Deformable convolutional networks", ICCV 2017.
    """
    x, offset, W = for_product(as_variable(x)), as_variable(offset), as_variable(W)
    if x.ndim != 4 or W.ndim != 4 or offset.ndim != 4 or x.shape[1] != W.shape[1]:
        raise ShapeError(
            f"{_NAME}: x, offset and W do not fit",
            expected="x (B, C, H, W), offset (B, 2 KH KW, OH, OW), W (O, C, KH, KW)",
            got=f"x {x.shape}, offset {offset.shape}, W {W.shape}",
        )
    if not fits_weight(x.dtype, W.dtype):
        raise DtypeError(f"{_NAME}: x and W must have one dtype", got=f"{x.dtype} and {W.dtype}")
    n, c, h, w = x.shape
    o, _, kh, kw = W.shape
    (sy, sx), (ph, pw) = [pair(each, name=name, function=_NAME) for each, name in ((stride, "stride"), (pad, "pad"))]
    size = conv_out_size(h, kh, sy, ph, ph), conv_out_size(w, kw, sx, pw, pw)
    if offset.shape != (n, 2 * kh * kw, *size):
        raise ShapeError(f"{_NAME}: offset has another shape", expected=(n, 2 * kh * kw, *size), got=offset.shape)
    # as in Chainer: the column offsets of all taps, then the row offsets
    moved = reshape(widened(offset), (n, 2, kh * kw, *size))
    rows, columns = [
        reshape(add(moved[:, k], to_device_of(taps.astype(moved.dtype), x.array)), (n, -1))
        for k, taps in ((1, _taps(kh, kw, sy, ph, size, 0)), (0, _taps(kh, kw, sx, pw, size, 1)))
    ]
    samples = reshape(pixels_between(x, rows, columns), (n, kh * kw, *size, c))
    samples = reshape(transpose(samples, (0, 2, 3, 1, 4)), (-1, kh * kw * c))
    # the samples are the rows of an im2col matrix, so the convolution is one matrix product
    y = linear(samples, reshape(transpose(W, (0, 2, 3, 1)), (o, -1)), b)
    return transpose(reshape(y, (n, *size, o)), (0, 3, 1, 2))


def _taps(kh: int, kw: int, stride: int, pad: int, size: tuple[int, int], axis: int) -> np.ndarray:
    """(KH * KW, OH, OW): the row (axis 0) or column (1) of each tap of each window, without offsets."""
    taps = np.broadcast_to(np.indices((kh, kw))[axis].reshape(-1, 1, 1), (kh * kw, *size))
    return taps + np.indices(size)[axis] * stride - pad
