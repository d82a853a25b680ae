"""Pooling and unpooling over any number of axes, composed of two-dimensional ones, axis by axis."""

import functools
import math
from collections.abc import Callable, Sequence

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.connection.convolution_nd import each_axis
from cvzoo.functions.pooling.pooling_2d import average_pooling_2d, max_pooling_2d
from cvzoo.functions.pooling.unpooling_2d import unpooling_2d
from cvzoo.typing.aliases import Array

Sizes = int | Sequence[int]
Pool = Callable[..., Variable]  # (x, ksize, stride, pad), and outsize if given, each setting a pair


def max_pooling_nd(
    x: Variable | Array, ksize: Sizes, stride: Sizes | None = None, pad: Sizes = 0, cover_all: bool = True
) -> Variable:
    """The maximum of each window over all axes after the second: (B, C, O1, ..., ON).

    x: (B, C, D1, ..., DN), N at least 1
    ksize: a number, or one for each axis
    stride: likewise; None for ksize, so that windows touch
    pad: never a maximum; likewise
    cover_all: one more window at the end if it would cover remaining pixels
    Raises ShapeError if the window does not fit. Of equal maxima the first gets the gradient.
    """
    return _pooled(x, ksize, stride, pad, _maximum(cover_all), function="max_pooling_nd")


def max_pooling_1d(
    x: Variable | Array, ksize: Sizes, stride: Sizes | None = None, pad: Sizes = 0, cover_all: bool = True
) -> Variable:
    """`max_pooling_nd` along one axis: (B, C, OW) of x (B, C, W)."""
    return _pooled(x, ksize, stride, pad, _maximum(cover_all), function="max_pooling_1d", n=1)


def max_pooling_3d(
    x: Variable | Array, ksize: Sizes, stride: Sizes | None = None, pad: Sizes = 0, cover_all: bool = True
) -> Variable:
    """`max_pooling_nd` over three axes: (B, C, OD, OH, OW) of x (B, C, D, H, W)."""
    return _pooled(x, ksize, stride, pad, _maximum(cover_all), function="max_pooling_3d", n=3)


def average_pooling_nd(
    x: Variable | Array, ksize: Sizes, stride: Sizes | None = None, pad: Sizes = 0, pad_value: int | None = 0
) -> Variable:
    """The mean of each window over all axes after the second: (B, C, O1, ..., ON).

    x: (B, C, D1, ..., DN), N at least 1
    ksize: a number, or one for each axis
    stride: likewise; None for ksize, so that windows touch
    pad: zeros around x; likewise
    pad_value: 0: padded zeros count in the mean; None: each sum is divided by the number of pixels in the window
    Raises ShapeError if the window does not fit, ValueRangeError for another pad_value.
    """
    return _pooled(x, ksize, stride, pad, _mean(pad_value, "average_pooling_nd"), function="average_pooling_nd")


def average_pooling_1d(
    x: Variable | Array, ksize: Sizes, stride: Sizes | None = None, pad: Sizes = 0, pad_value: int | None = 0
) -> Variable:
    """`average_pooling_nd` along one axis: (B, C, OW) of x (B, C, W)."""
    return _pooled(x, ksize, stride, pad, _mean(pad_value, "average_pooling_1d"), function="average_pooling_1d", n=1)


def average_pooling_3d(
    x: Variable | Array, ksize: Sizes, stride: Sizes | None = None, pad: Sizes = 0, pad_value: int | None = 0
) -> Variable:
    """`average_pooling_nd` over three axes: (B, C, OD, OH, OW) of x (B, C, D, H, W)."""
    return _pooled(x, ksize, stride, pad, _mean(pad_value, "average_pooling_3d"), function="average_pooling_3d", n=3)


def unpooling_nd(
    x: Variable | Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    outsize: Sequence[int] | None = None,
    cover_all: bool = True,
) -> Variable:
    """(B, C, D1, ..., DN): each element of x written to all elements of its window; where windows overlap, the sum.

    x: (B, C, O1, ..., ON), N at least 1
    ksize, stride, pad, cover_all: those of the pooling that it turns round; a number, or one for each axis
    outsize: (D1, ..., DN); by default the size that such a pooling would bring to (O1, ..., ON)
    Raises ShapeError if outsize would not be pooled to x's size.
    """
    return _unpooled(x, ksize, stride, pad, outsize, cover_all, function="unpooling_nd")


def unpooling_1d(
    x: Variable | Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    outsize: Sizes | None = None,
    cover_all: bool = True,
) -> Variable:
    """`unpooling_nd` along one axis: (B, C, W) of x (B, C, OW)."""
    return _unpooled(x, ksize, stride, pad, outsize, cover_all, function="unpooling_1d", n=1)


def unpooling_3d(
    x: Variable | Array,
    ksize: Sizes,
    stride: Sizes | None = None,
    pad: Sizes = 0,
    outsize: Sequence[int] | None = None,
    cover_all: bool = True,
) -> Variable:
    """`unpooling_nd` over three axes: (B, C, D, H, W) of x (B, C, OD, OH, OW)."""
    return _unpooled(x, ksize, stride, pad, outsize, cover_all, function="unpooling_3d", n=3)


def _unpooled(
    x: Variable | Array,
    ksize: Sizes,
    stride: Sizes | None,
    pad: Sizes,
    outsize: Sizes | None,
    cover_all: bool,
    *,
    function: str,
    n: int | None = None,
) -> Variable:
    pool = functools.partial(unpooling_2d, cover_all=cover_all)
    return _pooled(x, ksize, stride, pad, pool, outsize=outsize, function=function, n=n)


def _maximum(cover_all: bool) -> Pool:
    return functools.partial(max_pooling_2d, cover_all=cover_all)


def _mean(pad_value: int | None, function: str) -> Pool:
    if pad_value not in (0, None):
        raise ValueRangeError(f"{function}: pad_value is neither 0 nor None", got=repr(pad_value))
    return functools.partial(average_pooling_2d, count_pad=pad_value is not None)


def _pooled(
    x: Variable | Array,
    ksize: Sizes,
    stride: Sizes | None,
    pad: Sizes,
    pool: Pool,
    *,
    outsize: Sizes | None = None,
    function: str,
    n: int | None = None,
) -> Variable:
    """x (B, C, D1, ..., DN) pooled over its last two axes, then over each one before.

    Maxima, means and unpooling are separable, so that the result is that of one window over all axes.

    n: the required number of axes; None for any number
    """
    x = as_variable(x)
    axes = x.ndim - 2 if n is None else n
    if axes < 1 or x.ndim != axes + 2:
        expected_shape = {1: "(B, C, W)", 3: "(B, C, D, H, W)"}.get(axes, "(B, C, D1, ..., DN)")
        raise ShapeError(f"{function}: x has another number of axes", expected=expected_shape, got=x.shape)
    k = each_axis(ksize, axes, name="ksize", function=function)
    s = k if stride is None else each_axis(stride, axes, name="stride", function=function)
    p = each_axis(pad, axes, name="pad", function=function)
    outs = None if outsize is None else each_axis(outsize, axes, name="outsize", function=function)
    lead, sizes = x.shape[:2], list(x.shape[2:])
    if axes > 1:
        x = reshape(x, (lead[0], lead[1] * math.prod(sizes[:-2]), *sizes[-2:]))
        out = {} if outs is None else {"outsize": outs[-2:]}
        x = pool(x, (k[-2], k[-1]), (s[-2], s[-1]), (p[-2], p[-1]), **out)
        sizes[-2:] = x.shape[2:]
    for i in reversed(range(axes - 2 if axes > 1 else 1)):
        x = reshape(x, (lead[0], lead[1] * math.prod(sizes[:i]), sizes[i], math.prod(sizes[i + 1 :])))
        out = {} if outs is None else {"outsize": (outs[i], x.shape[3])}
        x = pool(x, (k[i], 1), (s[i], 1), (p[i], 0), **out)
        sizes[i] = x.shape[2]
    return reshape(x, (*lead, *sizes))
