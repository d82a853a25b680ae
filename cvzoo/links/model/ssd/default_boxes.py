"""SSD's default boxes."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError


@dataclasses.dataclass(frozen=True)
class DefaultBoxes:
    """SSD's anchors, for a network's input of one size. The fields are the arguments of `default_boxes`."""

    grids: tuple[int, ...]
    aspect_ratios: tuple[tuple[float, ...], ...]
    steps: tuple[float, ...]
    sizes: tuple[float, ...]
    largest: float | None = None

    def boxes(self, size: Sequence[int]) -> np.ndarray:
        """(A, 4) float32, y_min x_min y_max x_max, pixels of the network's input; they are not made for another."""
        return default_boxes(self.grids, self.aspect_ratios, self.steps, self.sizes, largest=self.largest)

    def counts(self, size: Sequence[int]) -> list[int]:
        """How many there are at each level."""
        return [grid * grid * (2 + 2 * len(ratios)) for grid, ratios in zip(self.grids, self.aspect_ratios)]


def default_boxes(
    grids: Sequence[int],
    aspect_ratios: Sequence[Sequence[float]],
    steps: Sequence[float],
    sizes: Sequence[float],
    *,
    largest: float | None = None,
) -> np.ndarray:
    """(A, 4) float32, y_min x_min y_max x_max, pixels of the network's input; they may stick out of it.

    grids: the side of each level's map
    aspect_ratios: for each level r: a wide box, sqrt(r) times as wide and so much less high, and a tall one
    steps: pixels from one place to the next; the first place is half a step from the edge
    sizes: the side of each level's square box, and one more: the second square is the geometric mean of two levels'
    largest: what sides are cut to; None: they stay
    Order: level by level, by row, then column, then small square, large square, wide, tall, wide, tall ...
    Raises ValueRangeError unless the levels agree in number.

    Source: Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016, section 2.2.
    """
    n = len(grids)
    if not (len(aspect_ratios) == len(steps) == n and len(sizes) == n + 1):
        raise ValueRangeError(
            "default_boxes: one of all for each level, and one size more",
            expected=(n, n, n, n + 1),
            got=(n, len(aspect_ratios), len(steps), len(sizes)),
        )
    parts = []
    for i, (grid, ratios, step) in enumerate(zip(grids, aspect_ratios, steps)):
        sides = cell_sides(sizes[i], sizes[i + 1], ratios)
        if largest is not None:
            sides = np.minimum(sides, largest)
        place = (np.arange(grid) + 0.5) * step
        box = np.empty((grid, grid, len(sides), 4))
        box[..., :2] = -sides / 2
        box[..., 2:] = sides / 2
        box[..., 0::2] += place[:, None, None, None]
        box[..., 1::2] += place[None, :, None, None]
        parts.append(box.reshape(-1, 4))
    return np.concatenate(parts).astype(np.float32)


def cell_sides(size: float, larger: float, ratios: Sequence[float]) -> np.ndarray:
    """(K, 2) height and width of one place's boxes."""
    sides = [(size, size), (math.sqrt(size * larger),) * 2]
    for ratio in ratios:
        root = math.sqrt(ratio)
        sides += [(size / root, size * root), (size * root, size / root)]
    return np.array(sides)
