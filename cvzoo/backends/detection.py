"""What the detection kernels of all backends agree on: coders of boxes, scores, and where images lie in their input."""

import enum
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

# sides longer than nothing; no subnormal number, since CuPy's kernels take those for 0
ANY_SIDE = float(np.finfo(np.float32).tiny)
# of an array of finished boxes: numbers before the first box, and of each box
HEADER, FIELDS = 4, 6


class Coder(enum.IntEnum):
    """What a code of four numbers is against: an anchor (dy dx dh dw); a place (up left down right, in strides; an
    anchor is then y, x, stride, 0); nothing, since it is a box."""

    ANCHORS = 0
    PLACES = 1
    BOXES = 2


class Scoring(enum.IntEnum):
    """What makes a score of logits: nothing, they are scores; the sigmoid; the sigmoid in float64; the softmax over
    classes, background first; the geometric mean of the sigmoids of a class and of the centerness."""

    PLAIN = 0
    SIGMOID = 1
    SIGMOID_IN_64 = 2
    SOFTMAX = 3
    CENTERED = 4


class CellHead(NamedTuple):
    """How the numbers of a YOLO head are read; hashable.

    anchors: (height, width) each, in pixels of the network's input, or in cells with in_cells
    n_class: number of classes
    scale_xy: how far a center may leave its cell; 1: not at all
    softmax: classes share a softmax; else each has a sigmoid
    plain: numbers are sigmoids already, and sides are squares (Scaled-YOLOv4)
    """

    anchors: tuple[tuple[float, float], ...]
    n_class: int
    scale_xy: float = 1.0
    softmax: bool = False
    plain: bool = False
    in_cells: bool = False

    @property
    def n_channel(self) -> int:
        """How many channels the head reads."""
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
    """(11,) float32, how boxes become those of an image of `size` (H, W): (box cut - offset) / divisor * factor.

    cut: (H, W) at whose edges they are cut first, None: nowhere; offset, divisor, factor: (y, x)
    min_side: a box of which a side, once cut, is shorter does not count
    """
    cut = (-1.0, -1.0) if cut is None else cut
    return np.array([*cut, *offset, *divisor, *factor, *size, min_side], np.float32)


def logit_below(score: float) -> float:
    """A little less than what the sigmoid makes `score` of."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return math.log(score / (1 - score)) - 1e-4


def just_below(score: float) -> float:
    """The float32 before `score`: what is greater than that is at least `score`. Before 0 lies -ANY_SIDE."""
    below = float(np.nextafter(np.float32(score), np.float32(-math.inf)))
    return -ANY_SIDE if -ANY_SIDE < below < 0 else below


def unpacked_boxes(result: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray] | None]:
    """Of each image bbox (R, 4) float32, label (R,) int32, score (R,) float32; None where not all was looked at.

    result: what a backend's `finish_boxes` gave, on the host
    """
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray] | None] = []
    for row in result:
        count, more = row[:2].view(np.int32).tolist()
        boxes = row[HEADER : HEADER + FIELDS * count].reshape(count, FIELDS)
        label = np.ascontiguousarray(boxes[:, 5]).view(np.int32)
        found.append(None if more else (boxes[:, :4].copy(), label, boxes[:, 4].copy()))
    return found


def packed_boxes(result: Any) -> tuple[Any, Any]:
    """bbox (B, limit, 4) float32 and label (B, limit) int32, where `result` of a backend's `finish_boxes` lies."""
    boxes = result[:, HEADER:].reshape(result.shape[0], -1, FIELDS)
    return boxes[..., :4].copy(), boxes[..., 5].copy().view(np.int32)
