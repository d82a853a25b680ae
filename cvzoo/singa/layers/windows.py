"""Window sizes and pads in SINGA's form, converted to cvzoo's."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.shapes.check import pair

Pair = tuple[int, int]
Sizes = int | Sequence[int]  # one number, or one per axis
PAD_MODES = ("NOTSET", "SAME_UPPER", "SAME_LOWER")


class Padding(NamedTuple):
    """Rows above and below, columns left and right."""

    top: int
    bottom: int
    left: int
    right: int


def as_pair(value: Sizes, name: str) -> Pair:
    """(rows, columns) of a number or a pair."""
    return pair(value, name=name, function="a window")


def as_padding(value: Sizes | None) -> Padding:
    """The padding of a number, (rows, columns), or (top, bottom, left, right)."""
    if isinstance(value, tuple | list) and len(value) == 4:
        return Padding(*as_pair(value[:2], "padding"), *as_pair(value[2:], "padding"))
    rows, columns = as_pair(0 if value is None else value, "padding")
    return Padding(rows, rows, columns, columns)


def same_padding(mode: str, size: Sequence[int], kernel: Pair, stride: Pair) -> Padding:
    """Padding for an output size of ceil(size / stride); odd padding goes to the end with SAME_UPPER."""
    sides = []
    for n, k, s in zip(size, kernel, stride):
        total = max((math.ceil(n / s) - 1) * s + k - n, 0)
        less, more = total // 2, total - total // 2
        sides += [less, more] if mode == "SAME_UPPER" else [more, less]
    return Padding(*sides)


def check_pad_mode(layer: str, mode: str) -> None:
    """Raise ValueRangeError unless the mode is one of SINGA's."""
    if mode not in PAD_MODES:
        raise ValueRangeError(f"{layer}: unknown pad_mode {mode!r}", expected=" or ".join(PAD_MODES))
