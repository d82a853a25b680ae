"""Decoding of anchor-based detectors: offsets from anchors and a score per class."""

import dataclasses
from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np

from cvzoo.backends.detection import Scoring, frame
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.interface import State
from cvzoo.geometry.anchors import grid_anchors
from cvzoo.links.model.decoding.abstract import AbstractDecoding
from cvzoo.links.model.preparation.abstract import Placement
from cvzoo.typing.aliases import Array, Size

Four = tuple[float, float, float, float]


class Anchors(Protocol):
    """A hashable description of anchors."""

    def boxes(self, size: Sequence[int]) -> np.ndarray:
        """(A, 4) float32, y_min x_min y_max x_max, for a network's input of `size` (H, W)."""
        ...

    def counts(self, size: Sequence[int]) -> Sequence[int]:
        """The number of anchors of each level."""
        ...


Cell = tuple[tuple[float, float, float, float], ...]


@dataclasses.dataclass(frozen=True)
class LevelAnchors:
    """The same anchors at every location of a level, the finest level first.

    cells: of each level (K, 4) y_min x_min y_max x_max around (0, 0), pixels; see `as_cell`
    strides: of each level, pixels of the network's input
    whole_steps: whether the distance of positions is the input's side divided by the map's, rounded down to whole
        pixels, which differs from the stride where a side is not a multiple of it
    """

    cells: tuple[Cell, ...]
    strides: tuple[int, ...]
    whole_steps: bool = True

    def grids(self, size: Sequence[int]) -> list[tuple[int, int]]:
        """(H, W) of each level's map for an input of `size` (H, W)."""
        return [(-(-size[0] // stride), -(-size[1] // stride)) for stride in self.strides]

    def counts(self, size: Sequence[int]) -> list[int]:
        """The number of anchors of each level."""
        return [height * width * len(cell) for cell, (height, width) in zip(self.cells, self.grids(size))]

    def by_level(self, size: Sequence[int]) -> list[np.ndarray]:
        """For each level (A, 4) float32, y_min x_min y_max x_max, pixels of the network's input of `size` (H, W).

        A is ordered by row, column and anchor of the position.
        """
        anchors = []
        for cell, stride, (height, width) in zip(self.cells, self.strides, self.grids(size)):
            step = (size[0] // height, size[1] // width) if self.whole_steps else (stride, stride)
            anchors.append(grid_anchors(np.array(cell, np.float32), (height, width), step))
        return anchors

    def boxes(self, size: Sequence[int]) -> np.ndarray:
        """(A, 4) float32: the anchors of all levels, concatenated."""
        return np.concatenate(self.by_level(size))


def as_cell(anchors: np.ndarray) -> Cell:
    """Anchors (K, 4) of one position as tuples of floats."""
    return tuple(map(tuple, anchors.tolist()))


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnchorLevels(AbstractDecoding):
    """RetinaNet, SSD and relatives: `outputs` are offsets (B, A, 4) from anchors and class scores.

    anchors: of the network
    n_class: number of classes
    scores: "sigmoid": scores (B, A, L) are logits; "softmax": (B, A, 1 + L) logits, background first; "probability":
        (B, A, 1 + L), background first, are probabilities already
    std: factors of dy dx dh dw
    order: "yx": offsets are dy dx dh dw; "xy": dx dy dw dh
    scores_first: whether the network returns the scores before the offsets
    n_candidate: maximum number of candidates for NMS, of each level or class; None: all
    per: whether n_candidate is per "level" or per "class"
    clip: as in `AbstractDecoding`; relative: whether anchors are relative to the input's sides
    """

    anchors: Anchors
    n_class: int
    scores: Literal["sigmoid", "softmax", "probability"]
    std: Four = (1.0, 1.0, 1.0, 1.0)
    order: Literal["yx", "xy"] = "yx"
    scores_first: bool = False
    n_candidate: int | None = None
    per: Literal["level", "class"] = "level"
    clip: bool = False
    relative: bool = False

    def candidates(self, outputs: Sequence[Array], input_size: Size, frames: Array, score_thresh: float) -> State:
        """As in `AbstractDecoding`."""
        loc, conf = reversed(outputs) if self.scores_first else outputs
        backend = backend_of(conf)
        parts, step = self._parts(input_size)
        selected = backend.select_best(
            conf[:, :, 1:] if self.scores == "probability" else conf,
            parts,
            n_class=self.n_class,
            limit=self.n_candidate,
            above=score_thresh,
            step=step,
            scoring=_SCORING[self.scores],
        )
        anchors = backend.constant((self.anchors, tuple(input_size)), lambda: self.anchors.boxes(input_size))
        code = loc[:, :, [1, 0, 3, 2]] if self.order == "xy" else loc
        return backend.decode_boxes(selected, code, anchors, frames=frames, std=self.std)

    def frame(self, size: tuple[int, int], placement: Placement) -> np.ndarray:
        """As in `AbstractDecoding`."""
        return frame(size, factor=size) if self.relative else super().frame(size, placement)

    def _parts(self, input_size: tuple[int, int]) -> tuple[list[tuple[int, int]], int]:
        """Start and count of each part that n_candidate applies to, and the stride of its pairs of anchor and class."""
        counts = self.anchors.counts(input_size)
        if self.n_candidate is None:
            return [(0, sum(counts) * self.n_class)], 1
        if self.per == "class":
            return [(label, sum(counts)) for label in range(self.n_class)], self.n_class
        return level_parts(counts, self.n_class), 1


def level_parts(counts: Sequence[int], n_class: int) -> list[tuple[int, int]]:
    """Start and count of each level's pairs of position and class."""
    starts = np.cumsum([0, *counts]) * n_class
    return [(int(start), count * n_class) for start, count in zip(starts, counts)]


_SCORING = {"sigmoid": Scoring.SIGMOID_FLOAT64, "softmax": Scoring.SOFTMAX, "probability": Scoring.NONE}
