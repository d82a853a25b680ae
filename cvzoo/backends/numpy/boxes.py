"""Decoding a detector's raw outputs to boxes in pixels of the image; areas and IoU of boxes."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.backends.detection import CellHead, Coder


def box_area(bbox: np.ndarray) -> np.ndarray:
    """(R,): height times width of bbox (R, 4); 0 for what is empty or inverted."""
    return np.maximum(bbox[:, 2] - bbox[:, 0], 0) * np.maximum(bbox[:, 3] - bbox[:, 1], 0)


def box_intersection(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(N, K): the area that each of a (N, 4) shares with each of b (K, 4)."""
    height, width = (
        np.minimum(a[:, None, axis + 2], b[:, axis + 2]) - np.maximum(a[:, None, axis], b[:, axis]) for axis in (0, 1)
    )
    return np.maximum(height, 0) * np.maximum(width, 0)


def box_iou(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(N, K): inter / ((area_a + area_b) - inter), in this order; 0 where both are empty."""
    inter = box_intersection(a, b)
    union = box_area(a)[:, None] + box_area(b) - inter
    return np.divide(inter, union, out=np.zeros_like(inter), where=union > 0)


# exp() of a wild network output must not overflow: detectors never predict a side over 62.5 times the anchor's,
# which is a 16-pixel anchor grown to 1000 pixels (the bound of Detectron and torchvision)
SIZE_CLAMP = math.log(1000 / 16)
# e^25 anchors are wider than any image, and the squares of their sides still fit into float32
_LARGEST_LOG = np.float32(25)

Four = Sequence[float]


def decode_offsets(code: np.ndarray, anchor: np.ndarray, *, mean: Four = (0.0,) * 4, std: Four) -> np.ndarray:
    """(R, 4): the boxes that offsets code (R, 4) dy dx dh dw, times std plus mean, make of anchor (R, 4)."""
    code = code * np.asarray(std, code.dtype) + np.asarray(mean, code.dtype)
    size = anchor[:, 2:] - anchor[:, :2]
    center = code[:, :2] * size + (anchor[:, :2] + size / 2)
    half = np.exp(np.minimum(code[:, 2:], code.dtype.type(SIZE_CLAMP))) * size / 2
    return np.concatenate([center - half, center + half], axis=1)


def decoded(code: np.ndarray, anchor: np.ndarray, coder: Coder, std: Four) -> np.ndarray:
    if coder is Coder.BOXES:
        return code
    if coder is Coder.POINTS:
        side = code * anchor[:, 2:3]
        return np.concatenate([anchor[:, :2] - side[:, :2], anchor[:, :2] + side[:, 2:]], axis=1)
    return decode_offsets(code, anchor, std=std)


def placed(bbox: np.ndarray, frame: np.ndarray, min_side: float) -> tuple[np.ndarray, np.ndarray]:
    """The boxes in pixels of their image, and (R,) bool, which of them are finite and large enough."""
    cut, offset, divisor, factor = (np.tile(frame[k : k + 2], 2) for k in (0, 2, 4, 6))
    if cut[0] >= 0:
        bbox = np.clip(bbox, 0, cut)
    valid = np.isfinite(bbox).all(axis=1)
    shortest = max(min_side, frame[10])
    if shortest > -math.inf:
        valid &= ((bbox[:, 2:] - bbox[:, :2]) >= shortest).all(axis=1)
    if offset.any():
        bbox = bbox - offset
    if (divisor != 1).any():
        bbox = bbox / divisor
    return (bbox * factor if (factor != 1).any() else bbox), valid


class _Places(NamedTuple):
    """Of rows of a head: cell (R, 2) y x; anchor (R,); cell_size (2,), height and width in pixels."""

    cell: np.ndarray
    anchor: np.ndarray
    cell_size: np.ndarray


def cell_boxes(
    raw: np.ndarray, head: CellHead, input_size: tuple[int, int], frame: np.ndarray, above: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """bbox (R, 4) in pixels of the image, label (R,), score (R,) of raw (A * (5 + L), GH, GW)."""
    # cell by cell, anchor by anchor; no copy where channels lie last in memory
    rows = raw.transpose(1, 2, 0).reshape(-1, 5 + head.n_class)
    with np.errstate(all="ignore"):
        objectness = rows[:, 4] if head.new_coords else _sigmoid(rows[:, 4])
        # no class scores above the objectness, so most cells' class scores are not computed
        index = np.flatnonzero(objectness > above)
        rows = rows[index]
        prob = rows[:, 5:]
        if not head.new_coords:
            prob = _softmax(prob) if head.softmax else _sigmoid(prob)
        prob = prob * objectness[index, None]
        place = _places(index, raw.shape[1:], len(head.anchors), input_size)
        if head.new_coords:
            center, side = rows[:, 1::-1], np.square(rows[:, 3:1:-1] * 2)
        else:
            center, side = _sigmoid(rows[:, 1::-1]), np.exp(np.minimum(rows[:, 3:1:-1], _LARGEST_LOG))
        center = center * np.float32(head.scale_xy) - np.float32((head.scale_xy - 1) / 2)
        side = side * np.array(head.anchors, np.float32)[place.anchor]
        side = (side * place.cell_size if head.in_cells else side) / 2
        center = (place.cell + center) * place.cell_size
        bbox, valid = placed(np.concatenate([center - side, center + side], axis=1), frame, -math.inf)
        row, label = np.nonzero((prob > above) & valid[:, None])
    return bbox[row], label.astype(np.int32), prob[row, label]


def _places(index: np.ndarray, grid: tuple[int, int], n_anchor: int, input_size: tuple[int, int]) -> _Places:
    cell, anchor = np.divmod(index, n_anchor)
    cell = np.stack(np.divmod(cell, grid[1]), axis=1).astype(np.float32)
    return _Places(cell, anchor, np.array([input_size[0] / grid[0], input_size[1] / grid[1]], np.float32))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=1, keepdims=True)
