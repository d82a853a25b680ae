"""How large the output of a convolution or a pooling is along one axis."""

import operator
from collections.abc import Sequence

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError


def pads(pad: int | Sequence[int], *, function: str) -> tuple[int, int, int, int]:
    """(top, bottom, left, right) of one number, a pair (rows, columns), or the four numbers themselves.

    Raises DtypeError if it is none of these, ValueRangeError if a number is negative.
    """
    try:
        numbers = tuple([operator.index(p) for p in ((pad, pad) if isinstance(pad, int) else pad)])
    except TypeError:
        numbers = ()
    if len(numbers) == 2:
        numbers = (numbers[0], numbers[0], numbers[1], numbers[1])
    if len(numbers) != 4:
        raise DtypeError(
            f"{function}: pad must be a number, (rows, columns) or (top, bottom, left, right)", got=repr(pad)
        )
    if min(numbers) < 0:
        raise ValueRangeError(f"{function}: pad cannot be negative", got=repr(pad), hint="functions.crop")
    return numbers


def end_pad(size: int, ksize: int, stride: int, before: int, after: int, dilate: int = 1) -> int:
    """The padding at the end that gives one place more to a window where pixels would be left over (`cover_all`)."""
    room = size + before + after - dilate * (ksize - 1) - 1
    return after + (-room) % stride


def conv_out_size(
    size: int, ksize: int, stride: int, pad_before: int, pad_after: int, dilate: int = 1, *, cover_all: bool = False
) -> int:
    """The number of places a window of `ksize` taps has in `size` pixels.

    cover_all: one place more where pixels at the end would be left over (Caffe's ceil mode, Chainer's `cover_all`)
    Raises ShapeError if the window is larger than the padded input, ValueRangeError if ksize, stride or dilate is not
    positive.
    """
    _check_window(ksize, stride, dilate)
    window = dilate * (ksize - 1) + 1
    room = size + pad_before + pad_after - window
    if room < 0 and not (cover_all and size > 0 and room + stride - 1 >= 0):
        raise ShapeError(
            f"a window of {window} pixels (ksize {ksize}, dilate {dilate}) does not fit in {size} pixels",
            expected=f"at least {window} pixels with padding",
            got=f"{size} + {pad_before} + {pad_after}",
            hint="a larger image, more padding or a smaller ksize",
        )
    return (room + (stride - 1 if cover_all else 0)) // stride + 1


def deconv_out_size(size: int, ksize: int, stride: int, pad_before: int, pad_after: int, dilate: int = 1) -> int:
    """The size of the input from which a convolution would make `size` places: the output of a transposed one.

    Raises ShapeError if it is not positive, ValueRangeError if ksize, stride or dilate is not.
    """
    _check_window(ksize, stride, dilate)
    out = stride * (size - 1) + dilate * (ksize - 1) + 1 - pad_before - pad_after
    if size <= 0 or out <= 0:
        raise ShapeError("a transposed convolution would give nothing", expected="a positive size", got=out)
    return out


def _check_window(ksize: int, stride: int, dilate: int) -> None:
    if ksize < 1 or stride < 1 or dilate < 1:
        raise ValueRangeError("a window wants positive numbers", got=f"ksize {ksize}, stride {stride}, dilate {dilate}")
