"""Overlapping windows of one size that cover a photo."""

import math
from collections.abc import Sequence
from typing import NamedTuple


class Tile(NamedTuple):
    """A window: where it lies in the photo, and where that part of the photo lies in the window.

    A window that is larger than the photo sticks out of it on both sides.
    """

    photo: tuple[slice, slice]
    window: tuple[slice, slice]


def cover_with_tiles(size: Sequence[int], window: Sequence[int], stride: Sequence[int]) -> list[Tile]:
    """Windows that cover a photo, row by row, as many as the strides need and in the photo's middle.

    size, window, stride: (H, W) each
    Source: PSPNet's sliding evaluation, as ChainerCV has it.
    """
    rows, columns = (_along(*each) for each in zip(size, window, stride))
    return [Tile((y, x), (wy, wx)) for y, wy in rows for x, wx in columns]


def _along(side: int, window: int, stride: int) -> list[tuple[slice, slice]]:
    n = max(1, math.ceil((side - window) / stride) + 1)
    start = (side - window - stride * (n - 1)) // 2
    spans = []
    for i in range(n):
        low = start + i * stride
        high = low + window
        spans.append((slice(max(low, 0), min(high, side)), slice(max(-low, 0), window - max(high - side, 0))))
    return spans
