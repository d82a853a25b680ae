"""The places of a feature pyramid, each of which may find one object."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

STRIDES = (8, 16, 32, 64, 128)


class Places(NamedTuple):
    """center: (A, 2) float32, y x, pixels of the network's input; stride: (A,) float32, what distances are counted in;
    counts: places of each level."""

    center: np.ndarray
    stride: np.ndarray
    counts: tuple[int, ...]


def pyramid_places(size: Sequence[int]) -> Places:
    """The places of levels 3 to 7 for an input of `size` (H, W): the finest level first, by row, then column.

    The first place of a level is the corner, as torchvision has it, not half a stride from it as in the paper.
    """
    centers, strides, counts = [], [], []
    height, width = (-(-side // 4) for side in size)
    for stride in STRIDES:
        height, width = (height + 1) // 2, (width + 1) // 2
        # whole pixels: a map of ceil(n / 2) places has another step than 2^l
        y = np.arange(height, dtype=np.float32) * (size[0] // height)
        x = np.arange(width, dtype=np.float32) * (size[1] // width)
        centers.append(np.stack(np.meshgrid(y, x, indexing="ij"), axis=-1).reshape(-1, 2))
        strides.append(np.full(height * width, stride, np.float32))
        counts.append(height * width)
    return Places(np.concatenate(centers), np.concatenate(strides), tuple(counts))


def boxes_at(loc: np.ndarray, center: np.ndarray, stride: np.ndarray) -> np.ndarray:
    """(R, 4) y_min x_min y_max x_max of loc (R, 4), distances up, left, down and right in strides (R,) from (R, 2)."""
    side = loc * stride[:, None]
    return np.concatenate([center - side[:, :2], center + side[:, 2:]], axis=1)
