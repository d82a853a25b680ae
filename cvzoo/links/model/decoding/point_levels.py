"""Decoding of anchor-free detectors: distances to box sides, a score per class and centerness."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.backends.detection import Coder, Scoring
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.interface import State
from cvzoo.links.model.decoding.abstract import AbstractDecoding
from cvzoo.links.model.decoding.anchor_levels import level_parts
from cvzoo.typing.aliases import Array, Size


class Places(NamedTuple):
    """center: (A, 2) float32, y x, pixels of the network's input; stride: (A,) float32, the unit of distances;
    counts: number of positions of each level."""

    center: np.ndarray
    stride: np.ndarray
    counts: tuple[int, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PointLevels(AbstractDecoding):
    """FCOS: `outputs` are distances up, left, down and right (B, A, 4) in strides, and logits of the classes (B, A, L)
    and of centerness (B, A, 1); a score is the geometric mean of both.

    strides: of the levels, the finest first
    n_class: number of classes
    n_candidate: maximum number of candidates for NMS of each level, pairs of position and class
    """

    strides: tuple[int, ...]
    n_class: int
    n_candidate: int
    clip: bool = True

    def candidates(self, outputs: Sequence[Array], input_size: Size, frames: Array, score_thresh: float) -> State:
        """As in `AbstractDecoding`."""
        loc, conf, center = outputs
        backend = backend_of(conf)
        selected = backend.select_best(
            conf,
            level_parts([height * width for height, width in self._grids(input_size)], self.n_class),
            n_class=self.n_class,
            limit=self.n_candidate,
            above=score_thresh,
            scoring=Scoring.CENTERNESS,
            center=center,
        )
        anchors = backend.constant(("points", self.strides, tuple(input_size)), lambda: self._anchors(input_size))
        return backend.decode_boxes(selected, loc, anchors, frames=frames, coder=Coder.POINTS)

    def places(self, size: Sequence[int]) -> Places:
        """The positions for an input of `size` (H, W): the finest level first, by row, then column.

        The first position of a level is the corner, as in torchvision, not half a stride from it as in the paper.
        """
        centers, strides = [], []
        grids = self._grids(size)
        for stride, (height, width) in zip(self.strides, grids):
            # in whole pixels: the step of a map of ceil(n / 2) positions is not 2^l
            y = np.arange(height, dtype=np.float32) * (size[0] // height)
            x = np.arange(width, dtype=np.float32) * (size[1] // width)
            centers.append(np.stack(np.meshgrid(y, x, indexing="ij"), axis=-1).reshape(-1, 2))
            strides.append(np.full(height * width, stride, np.float32))
        counts = tuple([height * width for height, width in grids])
        return Places(np.concatenate(centers), np.concatenate(strides), counts)

    def _grids(self, size: Sequence[int]) -> list[tuple[int, int]]:
        return [(-(-size[0] // stride), -(-size[1] // stride)) for stride in self.strides]

    def _anchors(self, size: Sequence[int]) -> np.ndarray:
        """(A, 4) float32: y, x, stride, 0 of each position."""
        places = self.places(size)
        stride = places.stride[:, None]
        return np.concatenate([places.center, stride, 0 * stride], axis=1)
