"""Anchors at every place of a pyramid's levels."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from cvzoo.geometry.anchors import grid_anchors

Cell = tuple[tuple[float, float, float, float], ...]


@dataclasses.dataclass(frozen=True)
class LevelAnchors:
    """The same anchors at every place of a level, the finest level first.

    cells: of each level (K, 4) y_min x_min y_max x_max around (0, 0), pixels; see `as_cell`
    strides: of each level, pixels of the network's input
    whole_steps: whether the step from place to place is the input's side over the map's, cut off to whole pixels, which
        is not the stride where a side is no multiple of it
    """

    cells: tuple[Cell, ...]
    strides: tuple[int, ...]
    whole_steps: bool = True

    def grids(self, size: Sequence[int]) -> list[tuple[int, int]]:
        """(H, W) of each level's map for an input of `size` (H, W)."""
        return [(-(-size[0] // stride), -(-size[1] // stride)) for stride in self.strides]

    def counts(self, size: Sequence[int]) -> list[int]:
        """How many anchors each level has."""
        return [height * width * len(cell) for cell, (height, width) in zip(self.cells, self.grids(size))]

    def by_level(self, size: Sequence[int]) -> list[np.ndarray]:
        """Of each level (A, 4) float32, y_min x_min y_max x_max, pixels of the network's input of `size` (H, W).

        A runs by row, column and anchor of the place.
        """
        anchors = []
        for cell, stride, (height, width) in zip(self.cells, self.strides, self.grids(size)):
            step = (size[0] // height, size[1] // width) if self.whole_steps else (stride, stride)
            anchors.append(grid_anchors(np.array(cell, np.float32), (height, width), step))
        return anchors

    def boxes(self, size: Sequence[int]) -> np.ndarray:
        """(A, 4) float32: all levels, one after another."""
        return np.concatenate(self.by_level(size))


def as_cell(anchors: np.ndarray) -> Cell:
    """Anchors (K, 4) of one place as plain numbers."""
    return tuple(map(tuple, anchors.tolist()))
