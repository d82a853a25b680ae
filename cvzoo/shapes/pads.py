"""Padding of a window that slides over an image, as the four numbers that kernels want."""

import operator
from collections.abc import Sequence

from cvzoo.errors.exceptions import DtypeError, ValueRangeError


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
