"""Boxes and scores decoded from a one-stage detector's raw outputs, as its `decoding` does."""

from collections.abc import Callable, Sequence

import numpy as np

from cvzoo.backends.detection import CellHead
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.export.onnx.boxes.candidates import (
    Candidates,
    around,
    best,
    best_of_levels,
    columns,
    numbers,
    of_anchors,
    of_centres,
)
from cvzoo.export.onnx.boxes.extents import (
    Extent,
    anchors_at,
    as_pair,
    corners,
    extent_of,
    fixed_step,
    n_position,
    positions,
    steps,
    strided,
)
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.export.onnx.sizes import SizeDependenceError
from cvzoo.links.model.decoding.abstract import AbstractDecoding
from cvzoo.links.model.decoding.anchor_levels import AnchorLevels, LevelAnchors
from cvzoo.links.model.decoding.grid_cells import GridCells
from cvzoo.links.model.decoding.point_levels import PointLevels
from cvzoo.links.model.detector import AbstractOneStageDetector
from cvzoo.links.model.image_batches import declared_preparation
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.links.model.ssd.multibox_coder import DefaultBoxes
from cvzoo.links.model.ultra_light_face.ultra_light_face import FacePriors

_LARGEST_LOG = 25  # as YOLO's heads are read in cvzoo.backends
_SIZE = (480, 640)  # of a typical image


def candidates(g: OnnxGraph, model: AbstractOneStageDetector, x: str, outputs: Sequence[str]) -> Candidates:
    """The boxes that the model's `decoding` computes from its outputs, for an input x.

    Raises UnsupportedError for a detector that overrides `decode`, SizeDependenceError if its boxes are for one size
    and the size of x is dynamic.
    """
    overrides_decode = type(model).decode is not AbstractOneStageDetector.decode
    write = None if overrides_decode else _WRITERS.get(type(model.decoding))
    if write is None:
        raise UnsupportedError(
            f"ONNX: boxes of a {type(model).__name__} are not exported", hint="export its raw outputs, boxes=False"
        )
    decoding = model.decoding
    boxes, probs = write(g, decoding, x, outputs, model.placement(_SIZE).input_size)
    preparation = declared_preparation(model)
    return Candidates(boxes, probs, decoding.clip, fills_input=preparation is None or isinstance(preparation, Stretch))


def _anchor_levels(
    g: OnnxGraph, decoding: AnchorLevels, x: str, outputs: Sequence[str], size: tuple[int, int]
) -> tuple[str, str]:
    loc, conf = reversed(outputs) if decoding.scores_first else outputs
    counts = None
    if isinstance(decoding.anchors, LevelAnchors):
        input_extent = extent_of(g, x)
        levels = [strided(g, input_extent, stride) for stride in decoding.anchors.strides]
        anchors = g.add("Concat", level_anchors(g, decoding.anchors, input_extent, levels), {"axis": 0})
        boxes = of_anchors(g, loc, anchors, decoding.std)
        counts = [n_position(g, level, len(cell)) for level, cell in zip(levels, decoding.anchors.cells)]
    elif isinstance(decoding.anchors, DefaultBoxes):
        if any(set(sizes) != {side} for sizes, side in zip(g.shape_of(x)[2:], size)):
            raise SizeDependenceError(f"its default boxes are for {size[0]} x {size[1]}")
        boxes = of_anchors(g, loc, numbers(g, decoding.anchors.boxes(size)), decoding.std)
        counts = [g.integers(count) for count in decoding.anchors.counts(size)]
    elif isinstance(decoding.anchors, FacePriors):
        boxes = _of_priors(g, decoding, decoding.anchors, x, loc)
    else:
        raise UnsupportedError(f"ONNX: anchors of kind {type(decoding.anchors).__name__} are not exported")
    return boxes, _scores(g, decoding, conf, counts)


def _scores(g: OnnxGraph, decoding: AnchorLevels, conf: str, counts: Sequence[str] | None) -> str:
    """(B, L, A) scores, 0 where a (class, anchor) pair is no candidate; counts: (1,) int64, anchors of each level."""
    n, n_class, n_anchor = decoding.n_candidate, decoding.n_class, g.shape_of(conf)[1][0]
    if decoding.scores == "sigmoid":
        probs = g.add("Sigmoid", [conf])
    else:
        probs = conf if decoding.scores == "probability" else g.add("Softmax", [conf], {"axis": 2})
        probs = columns(g, probs, 1, 1 + n_class)
    if n is not None and decoding.per == "level":
        if counts is None:
            raise UnsupportedError("ONNX: top-k selection per level cannot be exported for such anchors")
        return best_of_levels(g, probs, counts, n_class, n)
    probs = g.add("Transpose", [probs], {"perm": [0, 2, 1]})
    return probs if n is None or n >= n_anchor else best(g, probs, g.integers(n))


def level_anchors(g: OnnxGraph, anchors: LevelAnchors, input_extent: Extent, levels: Sequence[Extent]) -> list[str]:
    """(A, 4) for each level, as `LevelAnchors.by_level`; input_extent: of the input, levels: of the maps."""
    by_level = []
    for cell, stride, level in zip(anchors.cells, anchors.strides, levels):
        step = steps(g, input_extent, level) if anchors.whole_steps else fixed_step(g, stride)
        by_level.append(anchors_at(g, level, step, np.array(cell)))
    return by_level


def _of_priors(g: OnnxGraph, decoding: AnchorLevels, priors: FacePriors, x: str, offset: str) -> str:
    """Boxes from anchors given as fractions of the input's sides, as `face_priors`."""
    input_extent = extent_of(g, x)
    size, centres, sides = as_pair(g, input_extent), [], []
    for stride, squares in zip(priors.strides, priors.sides):
        level = strided(g, input_extent, stride)
        place = g.add("Add", [g.add("Cast", [positions(g, level)], {"to": 1}), numbers(g, 0.5)])
        centre = g.add("Unsqueeze", [g.add("Div", [place, as_pair(g, level)]), g.integers(1)])  # (P, 1, 2)
        side = g.add("Min", [g.add("Div", [numbers(g, np.array(squares)[:, None]), size]), numbers(g, 1)])  # (K, 2)
        zeros = numbers(g, np.zeros((len(squares), 1)))
        centres.append(g.add("Reshape", [g.add("Add", [centre, zeros]), g.integers(-1, 2)]))
        repeated = g.add("Add", [g.add("Mul", [centre, numbers(g, 0)]), side])
        sides.append(g.add("Reshape", [repeated, g.integers(-1, 2)]))
    code = g.add("Gather", [offset, g.integers(1, 0, 3, 2)], {"axis": 2})
    centre, side = (g.add("Concat", each, {"axis": 0}) for each in (centres, sides))
    fractions = of_centres(g, code, centre, side, decoding.std)
    return g.add("Mul", [fractions, g.add("Concat", [size, size], {"axis": 0})])


def _point_levels(
    g: OnnxGraph, decoding: PointLevels, x: str, outputs: Sequence[str], _: tuple[int, int]
) -> tuple[str, str]:
    (loc, conf, center), input_extent = outputs, extent_of(g, x)
    levels = [strided(g, input_extent, stride) for stride in decoding.strides]
    counts = [n_position(g, level) for level in levels]
    middle = g.add("Concat", [corners(g, level, steps(g, input_extent, level)) for level in levels], {"axis": 0})
    parts = [
        g.add("Expand", [numbers(g, [[stride]]), g.add("Concat", [n, g.integers(1)], {"axis": 0})])
        for stride, n in zip(decoding.strides, counts)
    ]
    side = g.add("Mul", [loc, g.add("Concat", parts, {"axis": 0})])
    first, last = g.add("Sub", [middle, columns(g, side, 0, 2)]), g.add("Add", [middle, columns(g, side, 2, 4)])
    probs = g.add("Sqrt", [g.add("Mul", [g.add("Sigmoid", [conf]), g.add("Sigmoid", [center])])])
    probs = best_of_levels(g, probs, counts, decoding.n_class, decoding.n_candidate)
    return g.add("Concat", [first, last], {"axis": -1}), probs


def _grid_cells(
    g: OnnxGraph, decoding: GridCells, x: str, outputs: Sequence[str], _: tuple[int, int]
) -> tuple[str, str]:
    size = as_pair(g, extent_of(g, x))
    boxes, scores = zip(*[_head(g, head.cells, raw, size) for head, raw in zip(decoding.heads, outputs)])
    probs = g.add("Transpose", [g.add("Concat", scores, {"axis": 1})], {"perm": [0, 2, 1]})
    return g.add("Concat", boxes, {"axis": 1}), probs


def _head(g: OnnxGraph, head: CellHead, raw: str, size: str) -> tuple[str, str]:
    """Boxes (B, A, 4) and probabilities (B, A, L), cell by cell, anchor by anchor."""
    grid, n_anchor, n_value = extent_of(g, raw), len(head.anchors), 5 + head.n_class
    rows = g.add("Reshape", [raw, g.integers(0, n_anchor, n_value, -1)])
    rows = g.add("Transpose", [rows], {"perm": [0, 3, 1, 2]})  # (B, cells, anchors, values)
    center_yx, sides = (g.add("Gather", [rows, g.integers(*each)], {"axis": 3}) for each in ((1, 0), (3, 2)))
    objectness, classes = columns(g, rows, 4, 5), columns(g, rows, 5, n_value)
    cell = g.add("Unsqueeze", [g.add("Cast", [positions(g, grid)], {"to": 1}), g.integers(1)])  # (cells, 1, 2)
    cell_size = g.add("Div", [size, as_pair(g, grid)])
    anchors = numbers(g, head.anchors)
    if head.new_coords:
        doubled = g.add("Mul", [sides, numbers(g, 2)])
        sides = g.add("Mul", [doubled, doubled])
    else:
        center_yx, objectness = g.add("Sigmoid", [center_yx]), g.add("Sigmoid", [objectness])
        sides = g.add("Exp", [g.add("Min", [sides, numbers(g, _LARGEST_LOG)])])
        classes = g.add("Softmax", [classes], {"axis": 3}) if head.softmax else g.add("Sigmoid", [classes])
    if not head.in_cells:
        grown = g.add("Mul", [center_yx, numbers(g, head.scale_xy)])
        center_yx = g.add("Sub", [grown, numbers(g, (head.scale_xy - 1) / 2)])
    else:
        anchors = g.add("Mul", [anchors, cell_size])
    centre = g.add("Mul", [g.add("Add", [center_yx, cell]), cell_size])
    boxes = around(g, centre, g.add("Mul", [sides, anchors]))
    probs = g.add("Mul", [classes, objectness])
    return g.add("Reshape", [boxes, g.integers(0, -1, 4)]), g.add("Reshape", [probs, g.integers(0, -1, head.n_class)])


_WRITERS: dict[type[AbstractDecoding], Callable[..., tuple[str, str]]] = {
    AnchorLevels: _anchor_levels,
    GridCells: _grid_cells,
    PointLevels: _point_levels,
}
