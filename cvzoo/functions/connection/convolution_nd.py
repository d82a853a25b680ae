"""Convolution and transposed convolution over any number of axes, composed of two-dimensional ones."""

import operator
from collections.abc import Iterable, Mapping, Sequence

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.array.axes import reshape, transpose
from cvzoo.functions.array.dtypes import cast
from cvzoo.functions.array.indexing import get_item
from cvzoo.functions.array.pad import pad as pad_array
from cvzoo.functions.connection.convolution_2d import convolution_2d, deconvolution_2d
from cvzoo.functions.math.arithmetic import add
from cvzoo.shapes.sizes import conv_out_size, deconv_out_size, end_pad
from cvzoo.typing.aliases import Array

Sizes = int | Sequence[int]
# x and W by number of axes; 0: of any number
_LETTERS = {
    0: ("(B, C, D1, ..., DN)", "(O, C/groups, K1, ..., KN)"),
    1: ("(B, C, W)", "(O, C/groups, KW)"),
    3: ("(B, C, D, H, W)", "(O, C/groups, KD, KH, KW)"),
}
_TRANSPOSED_LETTERS = {axes: (x, W.replace("O, C/groups", "C, O/groups")) for axes, (x, W) in _LETTERS.items()}


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


def deconvolution_nd(
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    outsize: Sequence[int] | None = None,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """The transpose of `convolution_nd` (not its inverse): (B, O, O1, ..., ON).

    x: (B, C, D1, ..., DN), N at least 1
    W: (C, O / groups, K1, ..., KN)
    b: (O,) or None
    stride, pad, dilate: of the convolution that it is the transpose of; a number, or one for each axis
    outsize: (O1, ..., ON); by default the smallest that the convolution would bring back to (D1, ..., DN)
    Raises ShapeError if channels, groups or sizes do not fit, DtypeError if dtypes differ.
    """
    return _deconvolution("deconvolution_nd", x, W, b, stride, pad, outsize, dilate, groups)


def deconvolution_1d(
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    outsize: Sizes | None = None,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """`deconvolution_nd` along one axis: (B, O, OW) of x (B, C, W) and W (C, O / groups, KW)."""
    outsize = (outsize,) if isinstance(outsize, int) else outsize
    return _deconvolution("deconvolution_1d", x, W, b, stride, pad, outsize, dilate, groups, n=1)


def deconvolution_3d(
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    outsize: Sequence[int] | None = None,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """`deconvolution_nd` over three axes: (B, O, OD, OH, OW) of x (B, C, D, H, W) and W (C, O / groups, KD, KH, KW)."""
    return _deconvolution("deconvolution_3d", x, W, b, stride, pad, outsize, dilate, groups, n=3)


def _axes_of(function: str, x: Variable, W: Variable, n: int | None, letters: Mapping[int, tuple[str, str]]) -> int:
    """The number of axes after the second. Raises ShapeError if it is not n, or not that of W."""
    axes = x.ndim - 2 if n is None else n
    if axes < 1 or x.ndim != axes + 2 or W.ndim != axes + 2:
        expected_shapes = letters.get(axes, letters[0])
        raise ShapeError(
            f"{function}: x and W have other numbers of axes",
            expected=f"x {expected_shapes[0]}, W {expected_shapes[1]}",
            got=f"x {x.shape}, W {W.shape}",
        )
    return axes


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
    axes = _axes_of(function, x, W, n, _LETTERS)
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


def _deconvolution(
    function: str,
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None,
    stride: Sizes,
    pad: Sizes,
    outsize: Sequence[int] | None,
    dilate: Sizes,
    groups: int,
    n: int | None = None,
) -> Variable:
    x, W = as_variable(x), as_variable(W)
    axes = _axes_of(function, x, W, n, _TRANSPOSED_LETTERS)
    steps, holes = [each_axis(v, axes, name=k, function=function) for v, k in ((stride, "stride"), (dilate, "dilate"))]
    befores = each_axis(pad, axes, name="pad", function=function)
    sizes = _deconvolution_size(function, x.shape[2:], W.shape[2:], steps, befores, outsize, holes)
    if axes == 2:
        return deconvolution_2d(x, W, b, steps, befores, sizes, dilate=holes, groups=groups)
    if axes == 1:  # a map of one row
        x, W = [reshape(each, (*each.shape[:2], 1, each.shape[2])) for each in (x, W)]
        y = deconvolution_2d(x, W, b, (1, *steps), (0, *befores), (1, *sizes), dilate=(1, *holes), groups=groups)
        return reshape(y, (*y.shape[:2], y.shape[3]))
    size, ksize, step, hole, before, out = x.shape[2], W.shape[2], steps[0], holes[0], befores[0], sizes[0]
    frames = _without_frames(_frames(x, 0, 0))
    # in front: the rows that pad crops; behind: rows that only a larger outsize has, which are zeros
    length = max(step * (size - 1) + hole * (ksize - 1) + 1, before + out)
    total: Variable | None = None
    for tap in range(ksize):
        weight = get_item(W, (slice(None), slice(None), tap))
        part = _deconvolution(function, frames, weight, None, steps[1:], befores[1:], sizes[1:], holes[1:], groups)
        part = _spread(reshape(part, (size, -1, *part.shape[1:])), step, tap * hole, length)
        total = part if total is None else add(total, part)
    assert total is not None  # W has at least one tap: deconv_out_size refuses other filters
    y = get_item(total, slice(before, before + out))
    y = transpose(y, (1, 2, 0, *range(3, y.ndim)))
    if b is None:
        return y
    b = as_variable(b)
    if b.shape != (y.shape[1],):
        raise ShapeError(f"{function}: b needs one value for each filter", expected=(y.shape[1],), got=b.shape)
    b = b if b.dtype == y.dtype else cast(b, y.dtype)  # of 32 bits beside an x of 16
    return add(y, reshape(b, (-1, *(1,) * axes)))


def _deconvolution_size(
    function: str,
    sizes: Sequence[int],
    ksizes: Sequence[int],
    steps: Sequence[int],
    befores: Sequence[int],
    outsize: Sequence[int] | None,
    holes: Sequence[int],
) -> tuple[int, ...]:
    """The output's size. Raises ShapeError if a convolution of `outsize` would not have the input's."""
    settings = list(zip(sizes, ksizes, steps, befores, holes))
    if outsize is None:
        return tuple([deconv_out_size(size, k, step, p, p, hole) for size, k, step, p, hole in settings])
    wanted = each_axis(outsize, len(settings), name="outsize", function=function)
    least = [step * (size - 1) + hole * (k - 1) + 1 - 2 * p for size, k, step, p, hole in settings]
    most = [smallest + step - 1 for smallest, step in zip(least, steps)]
    if not all(smallest <= each <= largest for smallest, each, largest in zip(least, wanted, most)):
        raise ShapeError(
            f"{function}: a convolution of outsize {wanted} would not give x's size {tuple(sizes)}",
            expected=f"from {tuple(least)} to {tuple(most)}, at least 1",
            got=wanted,
        )
    return wanted


def _spread(frames: Variable, step: int, first: int, length: int) -> Variable:
    """(length, ...) zeros with frames (D1, ...) at `first`, `first` + `step`, ..."""
    if step > 1:
        frames = reshape(frames, (frames.shape[0], 1, *frames.shape[1:]))
        frames = pad_array(frames, ((0, 0), (0, step - 1), *((0, 0),) * (frames.ndim - 2)))
        frames = reshape(frames, (frames.shape[0] * step, *frames.shape[2:]))
        frames = get_item(frames, slice(0, frames.shape[0] - step + 1))
    rest = length - first - frames.shape[0]
    return pad_array(frames, ((first, rest), *((0, 0),) * (frames.ndim - 1)))
