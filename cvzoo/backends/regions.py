"""Regions of feature maps, as kernels take them."""

import dataclasses
import enum
from typing import Any


class Cells(enum.IntEnum):
    """What a region's cells are made of: bilinear samples; pixels, of edges rounded to whole ones, the last of which
    may belong to the region; pixels, of edges as they are."""

    SAMPLES = 0
    ROUNDED = 1
    ROUNDED_INCLUSIVE = 2
    REAL = 3


@dataclasses.dataclass(frozen=True)
class Regions:
    """Regions, and how they become cells.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels of the image
    photo: (R,) int32, which of the B maps each is on
    level: (R,) int32, which level of the pyramid each looks at; None if there is one
    scales: pixels of each level's maps for one of the image
    outsize: cells (OH, OW)
    sampling: samples in a cell (rows, columns), 0 for one per pixel
    aligned: as in `roi_average_align_2d`
    group: position-sensitive maps have group ** 2 channels for each of the result's; 0 for other maps
    kept: what a backend has computed of these regions
    """

    bbox: Any
    photo: Any
    level: Any
    scales: tuple[float, ...]
    outsize: tuple[int, int]
    cells: Cells
    sampling: tuple[int, int] = (0, 0)
    aligned: bool = False
    group: int = 0
    kept: dict = dataclasses.field(default_factory=dict)

    def channels(self, of_map: int) -> int:
        """How many channels the result has, of maps with so many."""
        return of_map // max(self.group, 1) ** 2
