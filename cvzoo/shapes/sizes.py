"""Output sizes of convolutions and poolings along one axis."""

import operator
from collections.abc import Sequence

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError


def pads(pad: int | Sequence[int], *, function: str) -> tuple[int, int, int, int]:
    """Padding (top, bottom, left, right) from one integer, a pair (rows, columns), or four integers.

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
    """Padding at the end, enlarged so that the windows cover all pixels (`cover_all`)."""
    room = size + before + after - dilate * (ksize - 1) - 1
    return after + (-room) % stride


def conv_out_size(
    size: int, ksize: int, stride: int, pad_before: int, pad_after: int, dilate: int = 1, *, cover_all: bool = False
) -> int:
    """Output size of a convolution or pooling.

    cover_all: one more window if pixels at the end would not be covered (Caffe's ceil mode, Chainer's `cover_all`)
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
    """Output size of a transposed convolution.

    Raises ShapeError if it is not positive, ValueRangeError if ksize, stride or dilate is not.
    """
    _check_window(ksize, stride, dilate)
    out = stride * (size - 1) + dilate * (ksize - 1) + 1 - pad_before - pad_after
    if size <= 0 or out <= 0:
        raise ShapeError("the output of a transposed convolution would be empty", expected="a positive size", got=out)
    return out


def _check_window(ksize: int, stride: int, dilate: int) -> None:
    if ksize < 1 or stride < 1 or dilate < 1:
        got = f"ksize {ksize}, stride {stride}, dilate {dilate}"
        raise ValueRangeError("ksize, stride and dilate must be positive", got=got)
