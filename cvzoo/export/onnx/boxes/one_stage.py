"""What each detector's heads mean, as `decode` has it: the same arithmetic for all places and photos at once."""

from collections.abc import Callable, Sequence

import numpy as np

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
from cvzoo.export.onnx.boxes.extents import anchors_at, as_pair, corners, divided, extent_of, n_place, places, steps
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.export.onnx.sizes import SizeDependenceError
from cvzoo.geometry.anchors import cell_anchors
from cvzoo.links.chain import Chain
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.fcos.fcos import FCOS
from cvzoo.links.model.fcos.places import STRIDES
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.ssd.ssd import SSD
from cvzoo.links.model.ssdlite.ssdlite import SSDLite
from cvzoo.links.model.ultra_light_face.priors import SIDES
from cvzoo.links.model.ultra_light_face.priors import STRIDES as FACE_STRIDES
from cvzoo.links.model.ultra_light_face.ultra_light_face import UltraLightFace
from cvzoo.links.model.yolo.decode import RegionHead, YoloHead
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2
from cvzoo.links.model.yolo.yolo_v2_tiny import YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3

_FACE_STD = (0.1, 0.1, 0.2, 0.2)
_LARGEST_LOG = 25  # as YOLO's heads are read in cvzoo.links


def candidates(g: OnnxGraph, model: Chain, x: str, outputs: Sequence[str]) -> Candidates:
    """The boxes that the model's `decode` makes of its outputs, for an input x.

    Raises UnsupportedError for a detector that has no such recipe, SizeDependenceError if its boxes are for one size
    and x may be of any.
    """
    recipe = _RECIPES.get(type(model))
    if recipe is None:
        raise UnsupportedError(
            f"ONNX: boxes of a {type(model).__name__} are not exported", hint="export what its heads say, boxes=False"
        )
    return recipe(g, model, x, outputs)


def _retinanet(g: OnnxGraph, model: RetinaNet, x: str, outputs: Sequence[str]) -> Candidates:
    (loc, conf), s, whole = outputs, model.settings, extent_of(g, x)
    levels = [divided(g, whole, 1 << level) for level in range(s.first_level, s.last_level + 1)]
    anchors = []
    for sizes, level in zip(s.anchor_sizes, levels):
        cell = cell_anchors(sizes, s.anchor_ratios, rounded=s.anchor_rounded)
        anchors.append(anchors_at(g, level, steps(g, whole, level), cell))
    boxes = of_anchors(g, loc, g.add("Concat", anchors, {"axis": 0}), (1, 1, 1, 1))
    counts = [n_place(g, level, s.n_anchor) for level in levels]
    probs = best_of_levels(g, g.add("Sigmoid", [conf]), counts, model.n_fg_class, model.n_candidate)
    return Candidates(boxes, probs, True, False)


def _fcos(g: OnnxGraph, model: FCOS, x: str, outputs: Sequence[str]) -> Candidates:
    (loc, conf, center), whole = outputs, extent_of(g, x)
    levels = [divided(g, whole, stride) for stride in STRIDES]
    counts = [n_place(g, level) for level in levels]
    middle = g.add("Concat", [corners(g, level, steps(g, whole, level)) for level in levels], {"axis": 0})
    one = g.integers(1)
    parts = [
        g.add("Expand", [numbers(g, [[s]]), g.add("Concat", [n, one], {"axis": 0})]) for s, n in zip(STRIDES, counts)
    ]
    side = g.add("Mul", [loc, g.add("Concat", parts, {"axis": 0})])
    first, last = g.add("Sub", [middle, columns(g, side, 0, 2)]), g.add("Add", [middle, columns(g, side, 2, 4)])
    boxes = g.add("Concat", [first, last], {"axis": -1})
    probs = g.add("Sqrt", [g.add("Mul", [g.add("Sigmoid", [conf]), g.add("Sigmoid", [center])])])
    return Candidates(boxes, best_of_levels(g, probs, counts, model.n_fg_class, model.n_candidate), True, False)


def _ssd(g: OnnxGraph, model: SSD | SSDLite, x: str, outputs: Sequence[str]) -> Candidates:
    loc, conf = outputs
    if any(set(sizes) != {model.insize} for sizes in g.shape_of(x)[2:]):
        raise SizeDependenceError(f"its default boxes are for {model.insize} x {model.insize}")
    along, across = model.coder.variance
    probs = g.add("Transpose", [g.add("Softmax", [conf], {"axis": 2})], {"perm": [0, 2, 1]})
    probs = g.add("Slice", [probs, g.integers(1), g.integers(np.iinfo(np.int64).max), g.integers(1)])
    n = model.settings.n_candidate
    if n is not None and n < len(model.coder.default):
        probs = best(g, probs, g.integers(n))
    boxes = of_anchors(g, loc, numbers(g, model.coder.default), (along, along, across, across))
    return Candidates(boxes, probs, isinstance(model, SSDLite) or model.settings.clip, True)


def _faces(g: OnnxGraph, model: UltraLightFace, x: str, outputs: Sequence[str]) -> Candidates:
    """Priors as `face_priors` has them, as shares of the photo."""
    (conf, offset), whole = outputs, extent_of(g, x)
    size, centres, sides = as_pair(g, whole), [], []
    for stride, squares in zip(FACE_STRIDES, SIDES):
        level = divided(g, whole, stride)
        place = g.add("Add", [g.add("Cast", [places(g, level)], {"to": 1}), numbers(g, 0.5)])
        centre = g.add("Unsqueeze", [g.add("Div", [place, as_pair(g, level)]), g.integers(1)])  # (P, 1, 2)
        side = g.add("Min", [g.add("Div", [numbers(g, np.array(squares)[:, None]), size]), numbers(g, 1)])  # (K, 2)
        nothing = numbers(g, np.zeros((len(squares), 1)))
        centres.append(g.add("Reshape", [g.add("Add", [centre, nothing]), g.integers(-1, 2)]))
        every = g.add("Add", [g.add("Mul", [centre, numbers(g, 0)]), side])
        sides.append(g.add("Reshape", [every, g.integers(-1, 2)]))
    code = g.add("Gather", [offset, g.integers(1, 0, 3, 2)], {"axis": 2})
    centre, side = (g.add("Concat", each, {"axis": 0}) for each in (centres, sides))
    shares = of_centres(g, code, centre, side, _FACE_STD)
    boxes = g.add("Mul", [shares, g.add("Concat", [size, size], {"axis": 0})])
    probs = g.add("Transpose", [columns(g, conf, 1, 2)], {"perm": [0, 2, 1]})
    return Candidates(boxes, probs, False, True)


def _yolo(g: OnnxGraph, model: YOLOv2 | YOLOv2Tiny | YOLOv3, x: str, outputs: Sequence[str]) -> Candidates:
    return _heads(g, model.heads, x, outputs, whole=False)


def _darknet(g: OnnxGraph, model: DarknetDetector, x: str, outputs: Sequence[str]) -> Candidates:
    return _heads(g, model.network.heads, x, outputs, whole=model.resize == "stretch")


def _heads(g: OnnxGraph, heads, x: str, outputs: Sequence[str], *, whole: bool) -> Candidates:
    size = as_pair(g, extent_of(g, x))
    boxes, probs = zip(*[_head(g, head, raw, size) for head, raw in zip(heads, outputs)])
    probs = g.add("Transpose", [g.add("Concat", probs, {"axis": 1})], {"perm": [0, 2, 1]})
    return Candidates(g.add("Concat", boxes, {"axis": 1}), probs, False, whole)


def _head(g: OnnxGraph, head: YoloHead | RegionHead, raw: str, size: str) -> tuple[str, str]:
    """Boxes (B, A, 4) and probabilities (B, A, L), cell by cell, anchor by anchor."""
    grid, n_anchor, n_value = extent_of(g, raw), len(head.anchors), 5 + head.n_class
    rows = g.add("Reshape", [raw, g.integers(0, n_anchor, n_value, -1)])
    rows = g.add("Transpose", [rows], {"perm": [0, 3, 1, 2]})  # (B, cells, anchors, values)
    where, sides = (g.add("Gather", [rows, g.integers(*each)], {"axis": 3}) for each in ((1, 0), (3, 2)))
    objectness, classes = columns(g, rows, 4, 5), columns(g, rows, 5, n_value)
    cell = g.add("Unsqueeze", [g.add("Cast", [places(g, grid)], {"to": 1}), g.integers(1)])  # (cells, 1, 2)
    cell_size = g.add("Div", [size, as_pair(g, grid)])
    anchors = numbers(g, head.anchors)
    if isinstance(head, YoloHead) and head.new_coords:
        doubled = g.add("Mul", [sides, numbers(g, 2)])
        sides = g.add("Mul", [doubled, doubled])
    else:
        where, objectness = g.add("Sigmoid", [where]), g.add("Sigmoid", [objectness])
        sides = g.add("Exp", [g.add("Min", [sides, numbers(g, _LARGEST_LOG)])])
        shared = isinstance(head, RegionHead) and head.softmax
        classes = g.add("Softmax", [classes], {"axis": 3}) if shared else g.add("Sigmoid", [classes])
    if isinstance(head, YoloHead):
        grown = g.add("Mul", [where, numbers(g, head.scale_xy)])
        where = g.add("Sub", [grown, numbers(g, (head.scale_xy - 1) / 2)])
    else:
        anchors = g.add("Mul", [anchors, cell_size])
    centre = g.add("Mul", [g.add("Add", [where, cell]), cell_size])
    boxes = around(g, centre, g.add("Mul", [sides, anchors]))
    probs = g.add("Mul", [classes, objectness])
    return g.add("Reshape", [boxes, g.integers(0, -1, 4)]), g.add("Reshape", [probs, g.integers(0, -1, head.n_class)])


_RECIPES: dict[type[Chain], Callable[..., Candidates]] = {
    DarknetDetector: _darknet,
    FCOS: _fcos,
    RetinaNet: _retinanet,
    SSD: _ssd,
    SSDLite: _ssd,
    UltraLightFace: _faces,
    YOLOv2: _yolo,
    YOLOv2Tiny: _yolo,
    YOLOv3: _yolo,
}
