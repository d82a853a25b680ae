"""Unpooling: pixels copied to their windows, or put back at the indices of maxima."""

from collections.abc import Sequence

from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.arrays import range_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.transfer import to_device_of
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.math.arithmetic import multiply
from cvzoo.functions.pooling.pooling_2d import AveragePooling2DGrad, Upsampling2D
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
        # with cover_all the last window may be one that was added for remaining pixels
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
    # the end's padding is what makes exactly x's size; it is negative if pixels remain uncovered
    window = {
        "ksize": (kh, kw),
        "stride": (sy, sx),
        "pad": (top, sy * (h - 1) + kh - oh - top, left, sx * (w - 1) + kw - ow - left),
    }
    # the gradient of a sum over windows, which is kh * kw times their mean
    y = AveragePooling2DGrad(window, True, (oh, ow)).apply((x,))[0]
    return multiply(y, kh * kw)


def upsampling_2d(
    x: Variable | Array,
    indices: Variable | Array,
    ksize: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    pad: int | Sequence[int] = 0,
    outsize: Sequence[int] | None = None,
) -> Variable:
    """Max unpooling: (B, C, H, W) zeros with x's pixels at the indices of a max pooling; duplicates are added.

    x: (B, C, OH, OW)
    indices: (B, C, OH, OW) integers, row * W + column, as max_pooling_2d(..., return_indices=True) gives
    ksize, stride, pad: those of the pooling; they give the size where outsize does not
    outsize: (H, W) of the pooled array; required if the windows did not cover it exactly, since `indices` are invalid
        for a plane of another width
    Raises ShapeError if shapes differ, DtypeError if indices are not integers, ValueRangeError if one is outside; on a
    GPU they are not checked, and pixels outside are ignored.
    Where we differ: Chainer's indices are within each window, ours within the plane.
    """
    x = as_variable(x)
    indices = as_array(indices)
    backend_of(indices)
    if x.ndim != 4 or indices.shape != x.shape:
        raise ShapeError(
            "upsampling_2d: x and indices must have one shape",
            expected="(B, C, OH, OW) both",
            got=f"x {x.shape}, indices {indices.shape}",
        )
    if indices.dtype.kind not in "iu":
        raise DtypeError("upsampling_2d: indices must be integers", got=indices.dtype)
    if outsize is None:
        kh, kw = pair(ksize, name="ksize", function="upsampling_2d")
        sy, sx = (kh, kw) if stride is None else pair(stride, name="stride", function="upsampling_2d")
        top, bottom, left, right = pads(pad, function="upsampling_2d")
        outsize = (
            deconv_out_size(x.shape[2], kh, sy, top, bottom),
            deconv_out_size(x.shape[3], kw, sx, left, right),
        )
    h, w = pair(outsize, name="outsize", function="upsampling_2d")
    indices = to_device_of(indices, x.array)
    extremes = range_of(indices)
    if extremes and not (extremes[0] >= 0 and extremes[1] < h * w):
        raise ValueRangeError(
            "upsampling_2d: an index is outside of the plane",
            expected=f"0 to {h * w - 1} for outsize {(h, w)}",
            got=f"{extremes[0]} to {extremes[1]}",
            hint="outsize=x.shape[2:] of what was pooled",
        )
    return Upsampling2D(indices, (h, w)).apply((x,))[0]
