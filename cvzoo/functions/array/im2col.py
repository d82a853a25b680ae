"""The pixels that windows see, as channels."""

import itertools
from collections.abc import Sequence

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.array.concat import stack
from cvzoo.functions.array.indexing import get_item
from cvzoo.functions.array.pad import pad as pad_array
from cvzoo.shapes.check import pair
from cvzoo.shapes.sizes import conv_out_size, end_pad, pads
from cvzoo.typing.aliases import Array

Sizes = int | Sequence[int]


def im2col(
    x: Variable | Array, ksize: Sizes, stride: Sizes = 1, pad: Sizes = 0, cover_all: bool = False, dilate: Sizes = 1
) -> Variable:
    """(B, C * KH * KW, OH, OW): the pixels of each window, channel by channel, row by row.

    x: (B, C, H, W)
    ksize, stride, dilate: a number or (rows, columns)
    pad: zeros around x; a number, (rows, columns) or (top, bottom, left, right)
    cover_all: one more window at the end if it would cover remaining pixels
    Raises ShapeError if x is not 4-D or the window does not fit.
    """
    x = as_variable(x)
    if x.ndim != 4:
        raise ShapeError("im2col: x must be 4-D", expected="(B, C, H, W)", got=x.shape)
    k, s, d = [
        pair(v, name=name, function="im2col") for v, name in ((ksize, "ksize"), (stride, "stride"), (dilate, "dilate"))
    ]
    top, bottom, left, right = pads(pad, function="im2col")
    if cover_all:
        bottom = end_pad(x.shape[2], k[0], s[0], top, bottom, d[0])
        right = end_pad(x.shape[3], k[1], s[1], left, right, d[1])
    size = (
        conv_out_size(x.shape[2], k[0], s[0], top, bottom, d[0]),
        conv_out_size(x.shape[3], k[1], s[1], left, right, d[1]),
    )
    if top or bottom or left or right:
        x = pad_array(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    taps = []
    for tap in itertools.product(range(k[0]), range(k[1])):
        starts = [t * hole for t, hole in zip(tap, d)]
        part = [slice(first, first + (n - 1) * step + 1, step) for first, n, step in zip(starts, size, s)]
        taps.append(get_item(x, (..., *part)))
    return reshape(stack(taps, axis=2), (x.shape[0], -1, *size))
