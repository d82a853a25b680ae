"""Maxima over grids of 1, 4, 16, ... windows: a vector of one length from images of any size."""

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.array.concat import concat
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.pooling.max_pooling_2d import max_pooling_2d
from cvzoo.typing.aliases import Array


def _windows(size: int, n: int) -> tuple[int, int, int]:
    """ksize and padding (before, after) of n windows that touch and cover `size` pixels."""
    ksize = -(-size // n)
    extra = ksize * n - size
    return ksize, extra // 2, extra - extra // 2


def spatial_pyramid_pooling_2d(x: Variable | Array, pyramid_height: int) -> Variable:
    """(B, C * (4 ** pyramid_height - 1) / 3, 1, 1): level l holds each channel's maxima over 2**l x 2**l windows.

    x: (B, C, H, W)
    Raises ShapeError if x is not 4-D or so small that a window of the last level would see nothing.
    Source: He et al., "Spatial Pyramid Pooling in Deep Convolutional Networks for Visual Recognition", 2014. Where we
    differ: windows touch, with padding shared out to both sides (as in Chainer), instead of overlapping.
    """
    x = as_variable(x)
    if pyramid_height < 1:
        raise ValueRangeError("spatial_pyramid_pooling_2d: pyramid_height must be at least 1", got=pyramid_height)
    if x.ndim != 4:
        raise ShapeError("spatial_pyramid_pooling_2d: x must be 4-D", expected="(B, C, H, W)", got=x.shape)
    levels = []
    for level in range(pyramid_height):
        n = 2**level
        kh, top, bottom = _windows(x.shape[2], n)
        kw, left, right = _windows(x.shape[3], n)
        if max(top, bottom) >= kh or max(left, right) >= kw:
            raise ShapeError(
                f"spatial_pyramid_pooling_2d: {n} windows do not share out {x.shape[2:]} pixels so that each sees some",
                got=x.shape,
                hint=f"pyramid_height={level}, or a larger image",
            )
        y = max_pooling_2d(x, (kh, kw), pad=(top, bottom, left, right), cover_all=False)
        levels.append(reshape(y, (x.shape[0], x.shape[1] * n * n, 1, 1)))
    return concat(levels, axis=1)
