"""Targets of YOLO's predictions."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.bbox_area import bbox_area
from cvzoo.geometry.bbox_iou import bbox_intersection, bbox_iou
from cvzoo.links.model.decoding.grid_cells import RegionHead, YoloHead

_COVERED = 0.5  # fraction of a prediction that one ignored object covers, from which the prediction is ignored
_LARGEST_LOG = np.float32(25)  # exp of an untrained network's output must not overflow
UNKNOWN = -1  # counts neither as an object nor as background


class Grid(NamedTuple):
    """Cells and anchors of the N predictions of all heads, ordered by head, cell, anchor.

    cell: (N, 2) float32, row and column; step: (N, 2) float32, a cell's height and width in pixels
    anchor: (N, 2) float32, height and width in pixels
    reach: (N, 1) float32, by how much of its side a center may leave its cell, 0 but for YOLOv4's scale_x_y
    """

    cell: np.ndarray
    step: np.ndarray
    anchor: np.ndarray
    reach: np.ndarray
    starts: tuple[int, ...]
    shapes: tuple[tuple[int, int], ...]


class Targets(NamedTuple):
    """Training targets of a batch of B images.

    objectness: (B, N) int32; 1 an object, 0 none, -1 ignored
    positive: (P,) int64, indices of predictions with an object among the B * N, ascending
    center: (P, 2) float32, y x of its center in the part of the grid that the cell reaches, 0 to 1
    side: (P, 2) float32, logarithms of its height and width over the anchor's
    weight: (P,) float32, more for smaller objects
    label: (P,) int32
    """

    objectness: np.ndarray
    positive: np.ndarray
    center: np.ndarray
    side: np.ndarray
    weight: np.ndarray
    label: np.ndarray


def head_grid(heads: Sequence[YoloHead | RegionHead], shapes: Sequence[tuple[int, int]], size: Sequence[int]) -> Grid:
    """The grid of heads with maps of these shapes (GH, GW), for an input of `size` (H, W)."""
    cells, steps, anchors, reaches, starts, start = [], [], [], [], [], 0
    for head, (height, width) in zip(heads, shapes):
        step = np.array([size[0] / height, size[1] / width], np.float32)
        sides = np.array(head.anchors, np.float32)
        if isinstance(head, RegionHead):  # in cells
            sides = sides * step
        place = np.stack(np.meshgrid(np.arange(height), np.arange(width), indexing="ij"), axis=-1).reshape(-1, 2)
        cells.append(np.repeat(place, len(sides), axis=0).astype(np.float32))
        anchors.append(np.tile(sides, (len(place), 1)))
        steps.append(np.broadcast_to(step, anchors[-1].shape))
        beyond = (head.scale_xy - 1) / 2 if isinstance(head, YoloHead) else 0
        reaches.append(np.full((len(anchors[-1]), 1), beyond, np.float32))
        starts.append(start)
        start += len(anchors[-1])
    cell, step, anchor, reach = (np.concatenate(each) for each in (cells, steps, anchors, reaches))
    return Grid(cell, step, anchor, reach, tuple(starts), tuple([(height, width) for height, width in shapes]))


def predicted_boxes(code: np.ndarray, grid: Grid) -> np.ndarray:
    """(N, 4) y_min x_min y_max x_max, pixels, of code (N, 4): x, y, width, height as the heads give them."""
    center = (grid.cell + _sigmoid(code[:, 1::-1]) * (1 + 2 * grid.reach) - grid.reach) * grid.step
    half = np.exp(np.minimum(code[:, 3:1:-1], _LARGEST_LOG)) * grid.anchor / 2
    return np.concatenate([center - half, center + half], axis=1)


def assign_targets(
    code: np.ndarray,
    grid: Grid,
    heads: Sequence[YoloHead | RegionHead],
    bboxes: Sequence[np.ndarray],
    labels: Sequence[np.ndarray],
    ignored: Sequence[np.ndarray] | None = None,
    *,
    ignore_thresh: float = 0.7,
) -> Targets:
    """The targets of a batch.

    code: (B, N, 4) float32, x, y, width, height as the heads give them
    bboxes, labels: of each image (R, 4) float32 in pixels of the network's input and (R,) int32; R may be 0
    ignored: of each image (R,) bool, True for crowds, difficult or cut objects: not targets; predictions that
        overlap one by half of their area are ignored
    ignore_thresh: negative predictions with a greater IoU with an object are ignored as well
    Raises ShapeError if boxes, labels and flags differ in number.

    An object is assigned to the cell of its center and to the anchor, of all heads, with the highest IoU of shapes. Of
    two objects assigned to the same anchor the later one wins.
    Source: Redmon and Farhadi, YOLOv3, 2018, section 2.1, and darknet's [yolo], which weights small objects.
    """
    ignored = [np.zeros(len(bbox), bool) for bbox in bboxes] if ignored is None else ignored
    if not len(bboxes) == len(labels) == len(ignored) == len(code):
        raise ShapeError("bboxes, labels and ignored must have one element per image", got=(len(bboxes), len(labels)))
    n = len(grid.cell)
    objectness = np.zeros((len(bboxes), n), np.int32)
    assigned = [(np.empty(0, np.int64), np.empty((0, 4), np.float32), np.empty(0, np.int32))]
    for i, (bbox, classes, skip) in enumerate(zip(bboxes, labels, ignored)):
        bbox, classes, skip = as_bbox(bbox), np.asarray(classes, np.int32), np.asarray(skip, bool)
        if not len(bbox) == len(classes) == len(skip):
            raise ShapeError(f"image {i}: boxes and labels differ in number", got=(len(bbox), len(classes), len(skip)))
        predicted = predicted_boxes(code[i], grid)
        if skip.any():
            inside = bbox_intersection(predicted, bbox[skip]).max(axis=1)
            objectness[i, inside > _COVERED * bbox_area(predicted)] = UNKNOWN
        valid = ~skip & (bbox[:, 2:] > bbox[:, :2]).all(axis=1)
        bbox, classes = bbox[valid].astype(np.float32, copy=False), classes[valid]
        if not len(bbox):
            continue
        objectness[i, bbox_iou(predicted, bbox).max(axis=1) > ignore_thresh] = UNKNOWN
        place = _places(grid, heads, bbox)
        # of several objects of one cell and anchor the last one remains; darknet's loop overwrites the box, too, but
        # keeps the classes of all
        place, last = np.unique(place[::-1], return_index=True)
        row = len(bbox) - 1 - last
        objectness[i, place] = 1
        assigned.append((place + i * n, bbox[row], classes[row]))
    positive, bbox, label = map(np.concatenate, zip(*assigned))
    place = positive % n
    side = bbox[:, 2:] - bbox[:, :2]
    reach = grid.reach[place]
    center = ((bbox[:, :2] + bbox[:, 2:]) / 2 / grid.step[place] - grid.cell[place] + reach) / (1 + 2 * reach)
    area = np.prod(np.array(grid.shapes[0], np.float32) * grid.step[0])
    return Targets(
        objectness,
        positive,
        np.clip(center, 0, 1),
        np.log(side / grid.anchor[place]),
        # darknet's weight: small objects count up to twice
        2 - np.minimum(side.prod(axis=1) / area, 1),
        label,
    )


def _places(grid: Grid, heads: Sequence[YoloHead | RegionHead], bbox: np.ndarray) -> np.ndarray:
    """(R,) index of the prediction that each box is assigned to."""
    side = bbox[:, 2:] - bbox[:, :2]
    anchors, places = [], []
    for head, start, (height, width) in zip(heads, grid.starts, grid.shapes):
        n_anchor = len(head.anchors)
        step = grid.step[start]
        cell = ((bbox[:, :2] + bbox[:, 2:]) / 2 / step).astype(np.int64)
        cell = np.clip(cell, 0, [height - 1, width - 1])
        first = start + (cell[:, 0] * width + cell[:, 1]) * n_anchor
        anchors.append(grid.anchor[start : start + n_anchor])
        places.append(first[:, None] + np.arange(n_anchor))
    anchor = np.concatenate(anchors)
    # anchors are compared by shape alone, so all boxes begin at (0, 0)
    zeros = np.zeros((1, 2), np.float32)
    iou = bbox_iou(np.hstack([np.broadcast_to(zeros, side.shape), side]), np.hstack([anchor * 0, anchor]))
    best = iou.argmax(axis=1)
    return np.concatenate(places, axis=1)[np.arange(len(bbox)), best]


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))
