"""Regions of interest as arguments of RoI pooling kernels."""

import dataclasses
import enum

from cvzoo.typing.aliases import Array


class Cells(enum.IntEnum):
    """Cells of a region: bilinear samples; pixels between rounded edges, exclusive or inclusive of the last; pixels
    between unrounded edges."""

    SAMPLES = 0
    ROUNDED = 1
    ROUNDED_INCLUSIVE = 2
    REAL = 3


@dataclasses.dataclass(frozen=True)
class Regions:
    """Regions, and how they are divided into cells.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels of the image
    image: (R,) int32, the index of each region's image
    level: (R,) int32, the pyramid level of each region; None if there is one level
    scales: map pixels per image pixel, of each level
    outsize: cells (OH, OW)
    sampling: samples per cell (rows, columns), 0 for one per pixel
    aligned: as in `roi_average_align_2d`
    group: position-sensitive maps have group ** 2 channels per channel of the result; 0 for other maps
    cache: a backend's computations for these regions
    """

    bbox: Array
    image: Array
    level: Array | None
    scales: tuple[float, ...]
    outsize: tuple[int, int]
    cells: Cells
    sampling: tuple[int, int] = (0, 0)
    aligned: bool = False
    group: int = 0
    cache: dict = dataclasses.field(default_factory=dict)

    def channels(self, of_map: int) -> int:
        """Number of channels of the result, for maps with `of_map` channels."""
        return of_map // max(self.group, 1) ** 2
