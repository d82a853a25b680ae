"""The boxes that the face detector starts from."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

# sides of the square priors in pixels of the network's input, map by map
SIDES = ((10, 16, 24), (32, 48), (64, 96), (128, 192, 256))
STRIDES = (8, 16, 32, 64)


@dataclasses.dataclass(frozen=True)
class FacePriors:
    """The boxes that the face detector starts from, in parts of the input's sides; see `face_priors`.

    sides: of the square priors of each map, pixels of the network's input; strides: of the maps
    """

    sides: tuple[tuple[int, ...], ...] = SIDES
    strides: tuple[int, ...] = STRIDES

    def boxes(self, size: Sequence[int]) -> np.ndarray:
        """(A, 4) float32 for a network's input of `size` (H, W)."""
        return face_priors(size, self.sides, self.strides)

    def counts(self, size: Sequence[int]) -> list[int]:
        """How many there are of each map."""
        h, w = size
        return [math.ceil(h / s) * math.ceil(w / s) * len(sides) for s, sides in zip(self.strides, self.sides)]


def face_priors(
    size: Sequence[int], sides: Sequence[Sequence[int]] = SIDES, strides: Sequence[int] = STRIDES
) -> np.ndarray:
    """(R, 4) float32, y_min x_min y_max x_max as parts of the photo: 4,420 of them for (240, 320).

    size: (H, W) of the network's input; sides, strides: as in `FacePriors`
    Row by row of the finest map first, then the coarser ones; the priors of one cell stand together. Sides are cut to
    the photo's size, centres are not moved by that, so that a prior may stick out.

    Source: the publisher's generate_priors (facts).
    """
    h, w = size
    maps = []
    for stride, squares in zip(strides, sides):
        rows, columns = math.ceil(h / stride), math.ceil(w / stride)
        # cells divide the photo evenly, also where the last one reaches beyond it
        y = (np.arange(rows) + 0.5) / rows
        x = (np.arange(columns) + 0.5) / columns
        center = np.stack(np.meshgrid(y, x, indexing="ij"), axis=-1)[:, :, None]  # (rows, columns, 1, 2)
        half = np.minimum(np.array(squares)[:, None] / (h, w), 1) / 2  # (K, 2)
        maps.append(np.concatenate([center - half, center + half], axis=-1).reshape(-1, 4))
    return np.concatenate(maps).astype(np.float32)
