"""Convolution over any number of axes, made of two-dimensional ones."""

import operator
from collections.abc import Iterable, Sequence

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.array.axes import reshape, transpose
from cvzoo.functions.array.indexing import get_item
from cvzoo.functions.array.pad import pad as pad_array
from cvzoo.functions.connection.convolution_2d import convolution_2d
from cvzoo.functions.math.arithmetic import add
from cvzoo.shapes.sizes import conv_out_size, end_pad
from cvzoo.typing.aliases import Array

Sizes = int | Sequence[int]
_LETTERS = {1: ("(B, C, W)", "(O, C/groups, KW)"), 3: ("(B, C, D, H, W)", "(O, C/groups, KD, KH, KW)")}


def each_axis(value: Sizes, n: int, *, name: str, function: str) -> tuple[int, ...]:
    """The setting of each of n axes, of one number or n of them.

    Raises DtypeError if it is neither, ValueRangeError if a pad is negative or anything else is not positive.
    """
    try:
        numbers = tuple([operator.index(v) for v in (value if isinstance(value, Iterable) else (value,) * n)])
    except TypeError:
        numbers = ()
    if len(numbers) != n or not n:
        raise DtypeError(f"{function}: {name} must be a number, or one for each of {n} axes", got=repr(value))
    if min(numbers) < (0 if name == "pad" else 1):
        raise ValueRangeError(f"{function}: {name} is too small", got=repr(value))
    return numbers


def convolution_nd(
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    cover_all: bool = False,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """The cross-correlation of x with the filters W over all axes after the second: (B, O, O1, ..., ON).

    x: (B, C, D1, ..., DN), N at least 1: 1 for sequences, 3 for videos and volumes
    W: (O, C / groups, K1, ..., KN)
    b: (O,) or None
    stride, pad, dilate: a number, or one for each axis
    cover_all: one more window at the end of each axis if it would cover remaining pixels
    Raises ShapeError if channels, groups or sizes do not fit, DtypeError if dtypes differ.

    Each tap along the first of three axes is a convolution of all frames over the others, by the kernels of
    `convolution_2d`; their sum is the result. Only x is saved for the backward pass.
    """
    return _convolution("convolution_nd", x, W, b, stride, pad, cover_all, dilate, groups)


def convolution_1d(
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    cover_all: bool = False,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """`convolution_nd` along one axis: (B, O, OW) of x (B, C, W) and W (O, C / groups, KW)."""
    return _convolution("convolution_1d", x, W, b, stride, pad, cover_all, dilate, groups, n=1)


def convolution_3d(
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    cover_all: bool = False,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """`convolution_nd` over three axes: (B, O, OD, OH, OW) of x (B, C, D, H, W) and W (O, C / groups, KD, KH, KW)."""
    return _convolution("convolution_3d", x, W, b, stride, pad, cover_all, dilate, groups, n=3)


def _convolution(
    function: str,
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None,
    stride: Sizes,
    pad: Sizes,
    cover_all: bool,
    dilate: Sizes,
    groups: int,
    n: int | None = None,
) -> Variable:
    x, W = as_variable(x), as_variable(W)
    axes = x.ndim - 2 if n is None else n
    if axes < 1 or x.ndim != axes + 2 or W.ndim != axes + 2:
        expected_shapes = _LETTERS.get(axes, ("(B, C, D1, ..., DN)", "(O, C/groups, K1, ..., KN)"))
        raise ShapeError(
            f"{function}: x and W have other numbers of axes",
            expected=f"x {expected_shapes[0]}, W {expected_shapes[1]}",
            got=f"x {x.shape}, W {W.shape}",
        )
    if axes == 2:
        return convolution_2d(x, W, b, stride, pad, cover_all=cover_all, dilate=dilate, groups=groups)
    steps, holes = [each_axis(v, axes, name=k, function=function) for v, k in ((stride, "stride"), (dilate, "dilate"))]
    befores = each_axis(pad, axes, name="pad", function=function)
    if axes == 1:  # a map of one row
        x, W = [reshape(each, (*each.shape[:2], 1, each.shape[2])) for each in (x, W)]
        stride, dilate = (1, *steps), (1, *holes)
        y = convolution_2d(x, W, b, stride, (0, *befores), cover_all=cover_all, dilate=dilate, groups=groups)
        return reshape(y, (*y.shape[:2], y.shape[3]))
    (size, *_), (ksize, *_) = x.shape[2:], W.shape[2:]
    step, hole, before = steps[0], holes[0], befores[0]
    after = end_pad(size, ksize, step, before, before, hole) if cover_all else before
    out = conv_out_size(size, ksize, step, before, after, hole)
    frames = _frames(x, before, after)
    total: Variable | None = None
    for tap in range(ksize):
        first = tap * hole
        part_of_frames = get_item(frames, slice(first, first + (out - 1) * step + 1, step))
        part_of_frames = _without_frames(part_of_frames)
        weight = get_item(W, (slice(None), slice(None), tap))
        # once, not with every tap
        bias = b if tap == 0 else None
        part = _convolution(
            function, part_of_frames, weight, bias, steps[1:], befores[1:], cover_all, holes[1:], groups
        )
        total = part if total is None else add(total, part)
    assert total is not None  # W has at least one tap: conv_out_size refuses other filters
    y = reshape(total, (out, -1, *total.shape[1:]))
    return transpose(y, (1, 2, 0, *range(3, y.ndim)))


def _frames(x: Variable, before: int, after: int) -> Variable:
    """(D1, B, D2, ..., DN, C): the frames one after another with channels last, and zeros around them."""
    frames = transpose(x, (2, 0, *range(3, x.ndim), 1))
    return pad_array(frames, ((before, after), *((0, 0),) * (x.ndim - 1))) if before or after else frames


def _without_frames(frames: Variable) -> Variable:
    """(D1 * B, C, D2, ..., DN) of frames (D1, B, D2, ..., DN, C): a batch, channels-last in memory."""
    batch = reshape(frames, (-1, *frames.shape[2:]))
    return transpose(batch, (0, batch.ndim - 1, *range(1, batch.ndim - 1)))
