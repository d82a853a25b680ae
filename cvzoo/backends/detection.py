"""Types shared by the detection kernels of all backends: box coders, scoring, and transforms of boxes to images."""

import enum
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.typing.aliases import Array

# the smallest side that is not empty: a normal number, since kernels on a GPU flush subnormal ones to 0
ANY_SIDE = float(np.finfo(np.float32).tiny)
# layout of `finish_boxes`: values before the first box, and values per box
HEADER, FIELDS = 4, 6


class Coder(enum.IntEnum):
    """Box coding: offsets from an anchor (dy dx dh dw); distances from a point (up left down right, in strides; the
    anchor is then y, x, stride, 0); none, the code is a box."""

    ANCHORS = 0
    POINTS = 1
    BOXES = 2


class Scoring(enum.IntEnum):
    """From logits to scores: none, they are scores; sigmoid; sigmoid in float64; softmax over classes, background
    first; geometric mean of the sigmoids of a class and of the centerness."""

    NONE = 0
    SIGMOID = 1
    SIGMOID_FLOAT64 = 2
    SOFTMAX = 3
    CENTERNESS = 4


class CellHead(NamedTuple):
    """Decoding of a YOLO head; hashable.

    anchors: (height, width) each, in pixels of the network's input, or in cells with in_cells
    n_class: number of classes
    scale_xy: factor by which a center may exceed its cell; 1: not at all
    softmax: softmax over classes; else a sigmoid for each
    new_coords: outputs are sigmoids already, and sides are squares of twice the outputs (Scaled-YOLOv4)
    """

    anchors: tuple[tuple[float, float], ...]
    n_class: int
    scale_xy: float = 1.0
    softmax: bool = False
    new_coords: bool = False
    in_cells: bool = False

    @property
    def n_channel(self) -> int:
        """Number of channels of the head's input."""
        return len(self.anchors) * (5 + self.n_class)


def frame(
    size: Sequence[int],
    *,
    cut: Sequence[float] | None = None,
    offset: Sequence[float] = (0.0, 0.0),
    divisor: Sequence[float] = (1.0, 1.0),
    factor: Sequence[float] = (1.0, 1.0),
    min_side: float = -np.inf,
) -> np.ndarray:
    """(11,) float32, transform of boxes to an image of `size` (H, W): (clipped box - offset) / divisor * factor.

    cut: (H, W) that boxes are clipped to first, None: not clipped; offset, divisor, factor: (y, x)
    min_side: boxes with a shorter side after clipping are dropped
    """
    cut = (-1.0, -1.0) if cut is None else cut
    return np.array([*cut, *offset, *divisor, *factor, *size, min_side], np.float32)


def logit_below(score: float) -> float:
    """Slightly less than the logit of `score`, so that no score above it is lost by rounding."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return math.log(score / (1 - score)) - 1e-4


def just_below(score: float) -> float:
    """The float32 before `score`, so that `> just_below(score)` means `>= score`; -ANY_SIDE for 0."""
    below = float(np.nextafter(np.float32(score), np.float32(-math.inf)))
    return -ANY_SIDE if -ANY_SIDE < below < 0 else below


def unpacked_boxes(result: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray] | None]:
    """For each image bbox (R, 4) float32, label (R,) int32, score (R,) float32; None beyond the candidates' limit.

    result: of a backend's `finish_boxes`, on the host
    """
    detections: list[tuple[np.ndarray, np.ndarray, np.ndarray] | None] = []
    for row in result:
        count, more = row[:2].view(np.int32).tolist()
        boxes = row[HEADER : HEADER + FIELDS * count].reshape(count, FIELDS)
        label = np.ascontiguousarray(boxes[:, 5]).view(np.int32)
        detections.append(None if more else (boxes[:, :4].copy(), label, boxes[:, 4].copy()))
    return detections


def packed_boxes(result: Array) -> tuple[Array, Array]:
    """bbox (B, limit, 4) float32 and label (B, limit) int32, on the device of a backend's `finish_boxes`."""
    boxes: Array = result[:, HEADER:].reshape(result.shape[0], -1, FIELDS)
    return boxes[..., :4].copy(), boxes[..., 5].copy().view(np.int32)
