"""What the numbers of YOLO's heads mean: boxes, classes and scores."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ShapeError

Found = tuple[np.ndarray, np.ndarray, np.ndarray]

# e^25 anchors are wider than any photo, and the squares of their sides still fit into float32
_LARGEST_LOG = np.float32(25)


@dataclasses.dataclass(frozen=True)
class YoloHead:
    """The head of YOLOv3 and later: every class is a yes-or-no of its own.

    anchors: (height, width) each, in pixels of the network's input
    n_class: number of classes
    scale_xy: how far a centre may leave its cell (YOLOv4's scale_x_y); 1: not at all
    new_coords: whether the numbers are sigmoids already and sides are squares (Scaled-YOLOv4)

    Source: Redmon and Farhadi, YOLOv3: An Incremental Improvement, 2018, section 2.1; darknet's [yolo].
    """

    anchors: tuple[tuple[float, float], ...]
    n_class: int
    scale_xy: float = 1.0
    new_coords: bool = False

    @property
    def n_channel(self) -> int:
        """How many channels the head reads."""
        return len(self.anchors) * (5 + self.n_class)

    def decode(self, raw: np.ndarray, input_size: tuple[int, int], score_thresh: float) -> Found:
        """bbox (R, 4) in pixels of the network's input, label (R,), score (R,) above `score_thresh`; unsuppressed.

        raw: (A * (5 + L), GH, GW), anchor by anchor: x, y, width, height, objectness, then the classes
        input_size: (H, W) of the network's input
        NaN never comes out: what has a NaN for a score or a side is dropped.
        """
        rows = _rows(raw, self)
        with np.errstate(all="ignore"):
            objectness = rows[:, 4] if self.new_coords else sigmoid(rows[:, 4])
            # no class is surer than the object itself, so most cells need no look at their classes
            index = np.flatnonzero(objectness > score_thresh)
            rows = rows[index]
            prob = rows[:, 5:] if self.new_coords else sigmoid(rows[:, 5:])
            prob = prob * objectness[index, None]
            if self.new_coords:
                centre, side = rows[:, 1::-1], np.square(rows[:, 3:1:-1] * 2)
            else:
                centre, side = sigmoid(rows[:, 1::-1]), np.exp(np.minimum(rows[:, 3:1:-1], _LARGEST_LOG))
            centre = centre * np.float32(self.scale_xy) - np.float32((self.scale_xy - 1) / 2)
            cell, anchor, cell_size = _places(index, raw.shape[1:], len(self.anchors), input_size)
            side = side * np.array(self.anchors, np.float32)[anchor]
            return _above(prob, (cell + centre) * cell_size, side, score_thresh)


@dataclasses.dataclass(frozen=True)
class RegionHead:
    """The head of YOLOv2: the classes share a softmax.

    anchors: (height, width) each, in cells of the head's grid
    n_class: number of classes
    softmax: False where every class is a yes-or-no of its own

    Source: Redmon and Farhadi, YOLO9000, CVPR 2017, section 2; darknet's [region] without a tree of classes.
    """

    anchors: tuple[tuple[float, float], ...]
    n_class: int
    softmax: bool = True

    @property
    def n_channel(self) -> int:
        """How many channels the head reads."""
        return len(self.anchors) * (5 + self.n_class)

    def decode(self, raw: np.ndarray, input_size: tuple[int, int], score_thresh: float) -> Found:
        """As YoloHead's."""
        rows = _rows(raw, self)
        with np.errstate(all="ignore"):
            objectness = sigmoid(rows[:, 4])
            index = np.flatnonzero(objectness > score_thresh)
            rows = rows[index]
            prob = _softmax(rows[:, 5:]) if self.softmax else sigmoid(rows[:, 5:])
            prob = prob * objectness[index, None]
            cell, anchor, cell_size = _places(index, raw.shape[1:], len(self.anchors), input_size)
            side = np.exp(np.minimum(rows[:, 3:1:-1], _LARGEST_LOG)) * np.array(self.anchors, np.float32)[anchor]
            return _above(prob, (cell + sigmoid(rows[:, 1::-1])) * cell_size, side * cell_size, score_thresh)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + e^-x), the dtype of x; an overflow of the exponential is the right 0."""
    return 1 / (1 + np.exp(-x))


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=1, keepdims=True)


def _rows(raw: np.ndarray, head: YoloHead | RegionHead) -> np.ndarray:
    """(GH * GW * A, 5 + L): cell by cell, anchor by anchor; no copy where channels lie last in memory."""
    if raw.ndim != 3 or raw.shape[0] != head.n_channel:
        raise ShapeError(
            f"a head of {len(head.anchors)} anchors and {head.n_class} classes reads other channels",
            expected=f"({head.n_channel}, GH, GW)",
            got=raw.shape,
        )
    return raw.transpose(1, 2, 0).reshape(-1, 5 + head.n_class)


def _places(
    index: np.ndarray, grid: tuple[int, int], n_anchor: int, input_size: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For rows of `_rows`: cell (R, 2) as y, x; anchor (R,); and (2,) the height and width of a cell in pixels."""
    cell, anchor = np.divmod(index, n_anchor)
    cell = np.stack(np.divmod(cell, grid[1]), axis=1).astype(np.float32)
    return cell, anchor, np.array([input_size[0] / grid[0], input_size[1] / grid[1]], np.float32)


def _above(prob: np.ndarray, centre: np.ndarray, side: np.ndarray, score_thresh: float) -> Found:
    bbox = np.concatenate([centre - side / 2, centre + side / 2], axis=1)
    row, label = np.nonzero((prob > score_thresh) & np.isfinite(bbox).all(axis=1, keepdims=True))
    return bbox[row], label.astype(np.int32), prob[row, label]
