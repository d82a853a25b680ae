"""Each pixel copied to its window: sums over windows, turned round."""

from collections.abc import Sequence

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.math.multiply import multiply
from cvzoo.functions.pooling.average_pooling_2d import AveragePooling2DGrad
from cvzoo.shapes.check import pair
from cvzoo.shapes.sizes import conv_out_size, deconv_out_size, pads
from cvzoo.typing.aliases import Array

Sizes = int | Sequence[int]


def unpooling_2d(
    x: Variable | Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    outsize: Sequence[int] | None = None,
    cover_all: bool = True,
) -> Variable:
    """(B, C, H, W): each pixel of x written to all pixels of its window; where windows overlap, the sum.

    x: (B, C, OH, OW)
    ksize, stride, pad, cover_all: those of the pooling that it turns round
    outsize: (H, W); by default the size that such a pooling would bring to (OH, OW)
    Raises ShapeError if outsize would not be pooled to x's size.
    """
    x = as_variable(x)
    if x.ndim != 4:
        raise ShapeError("unpooling_2d: x must be 4-D", expected="(B, C, OH, OW)", got=x.shape)
    kh, kw = pair(ksize, name="ksize", function="unpooling_2d")
    sy, sx = (kh, kw) if stride is None else pair(stride, name="stride", function="unpooling_2d")
    top, bottom, left, right = pads(pad, function="unpooling_2d")
    h, w = x.shape[2:]
    if outsize is None:
        # with cover_all the last place may be one that was added for left-over pixels
        over = (sy - 1, sx - 1) if cover_all else (0, 0)
        outsize = (
            deconv_out_size(h, kh, sy, top, bottom) - over[0],
            deconv_out_size(w, kw, sx, left, right) - over[1],
        )
    oh, ow = pair(outsize, name="outsize", function="unpooling_2d")
    fits = []
    for size, n, k, stride_, before, after in ((oh, h, kh, sy, top, bottom), (ow, w, kw, sx, left, right)):
        fits.append(conv_out_size(size, k, stride_, before, after, cover_all=cover_all) == n)
    if not all(fits):
        raise ShapeError(
            f"unpooling_2d: a pooling of outsize {(oh, ow)} would not give x's size",
            expected=f"an outsize that is pooled to {(h, w)} by ksize {(kh, kw)}, stride {(sy, sx)}, pad {pad}",
            got=(oh, ow),
        )
    # the end's padding is what makes exactly x's size; it is negative where pixels are left over
    window = {
        "ksize": (kh, kw),
        "stride": (sy, sx),
        "pad": (top, sy * (h - 1) + kh - oh - top, left, sx * (w - 1) + kw - ow - left),
    }
    y = AveragePooling2DGrad(window, True, (oh, ow)).apply((x,))[0]
    return multiply(y, kh * kw)
