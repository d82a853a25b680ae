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
)
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.links.chain import Chain
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.fcos.fcos import FCOS
from cvzoo.links.model.fcos.places import pyramid_places
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.ssd.ssd import SSD
from cvzoo.links.model.ssdlite.ssdlite import SSDLite
from cvzoo.links.model.ultra_light_face.priors import face_priors
from cvzoo.links.model.ultra_light_face.ultra_light_face import UltraLightFace
from cvzoo.links.model.yolo.decode import RegionHead, YoloHead
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2
from cvzoo.links.model.yolo.yolo_v2_tiny import YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3

Size = tuple[int, int]
_FACE_STD = (0.1, 0.1, 0.2, 0.2)
_LARGEST_LOG = 25  # as YOLO's heads are read in cvzoo.links


def candidates(g: OnnxGraph, model: Chain, outputs: Sequence[str], size: Size) -> Candidates:
    """The boxes that the model's `decode` makes of its outputs, for an input of `size` (H, W).

    Raises UnsupportedError for a detector that has no such recipe.
    """
    recipe = _RECIPES.get(type(model))
    if recipe is None:
        raise UnsupportedError(
            f"ONNX: boxes of a {type(model).__name__} are not exported", hint="export what its heads say, boxes=False"
        )
    return recipe(g, model, outputs, size)


def _retinanet(g: OnnxGraph, model: RetinaNet, outputs: Sequence[str], size: Size) -> Candidates:
    loc, conf = outputs
    counts = [h * w * model.settings.n_anchor for h, w in model.grids(size)]
    probs = g.add("Sigmoid", [conf])
    boxes = of_anchors(g, loc, model.anchors(size), (1, 1, 1, 1))
    return Candidates(boxes, best_of_levels(g, probs, counts, model.n_fg_class, model.n_candidate), True, False)


def _fcos(g: OnnxGraph, model: FCOS, outputs: Sequence[str], size: Size) -> Candidates:
    loc, conf, center = outputs
    places = pyramid_places(size)
    probs = g.add("Sqrt", [g.add("Mul", [g.add("Sigmoid", [conf]), g.add("Sigmoid", [center])])])
    side = g.add("Mul", [loc, numbers(g, places.stride[:, None])])
    middle = numbers(g, places.center)
    first, last = g.add("Sub", [middle, columns(g, side, 0, 2)]), g.add("Add", [middle, columns(g, side, 2, 4)])
    boxes = g.add("Concat", [first, last], {"axis": -1})
    n_class = g.shape_of(conf)[2][0]
    return Candidates(boxes, best_of_levels(g, probs, places.counts, n_class, model.n_candidate), True, False)


def _ssd(g: OnnxGraph, model: SSD | SSDLite, outputs: Sequence[str], size: Size) -> Candidates:
    loc, conf = outputs
    along, across = model.coder.variance
    probs = g.add("Transpose", [g.add("Softmax", [conf], {"axis": 2})], {"perm": [0, 2, 1]})
    probs = g.add("Slice", [probs, g.integers(1), g.integers(np.iinfo(np.int64).max), g.integers(1)])
    n = model.settings.n_candidate
    if n is not None and n < len(model.coder.default):
        probs = best(g, probs, n)
    boxes = of_anchors(g, loc, model.coder.default, (along, along, across, across))
    return Candidates(boxes, probs, isinstance(model, SSDLite) or model.settings.clip, True)


def _faces(g: OnnxGraph, model: UltraLightFace, outputs: Sequence[str], size: Size) -> Candidates:
    conf, offset = outputs
    probs = g.add("Transpose", [columns(g, conf, 1, 2)], {"perm": [0, 2, 1]})
    code = g.add("Gather", [offset, g.integers(1, 0, 3, 2)], {"axis": 2})
    shares = of_anchors(g, code, face_priors(size), _FACE_STD)
    return Candidates(g.add("Mul", [shares, numbers(g, size * 2)]), probs, False, True)


def _yolo(g: OnnxGraph, model: YOLOv2 | YOLOv2Tiny | YOLOv3, outputs: Sequence[str], size: Size) -> Candidates:
    return _heads(g, model.heads, outputs, size, whole=False)


def _darknet(g: OnnxGraph, model: DarknetDetector, outputs: Sequence[str], size: Size) -> Candidates:
    return _heads(g, model.network.heads, outputs, size, whole=model.resize == "stretch")


def _heads(g: OnnxGraph, heads, outputs: Sequence[str], size: Size, *, whole: bool) -> Candidates:
    boxes, probs = zip(*[_head(g, head, raw, size) for head, raw in zip(heads, outputs)])
    probs = g.add("Transpose", [g.add("Concat", probs, {"axis": 1})], {"perm": [0, 2, 1]})
    return Candidates(g.add("Concat", boxes, {"axis": 1}), probs, False, whole)


def _head(g: OnnxGraph, head: YoloHead | RegionHead, raw: str, size: Size) -> tuple[str, str]:
    """Boxes (B, A, 4) and probabilities (B, A, L), cell by cell, anchor by anchor."""
    grid = tuple([sizes[0] for sizes in g.shape_of(raw)[2:]])
    n_anchor, n_cell = len(head.anchors), grid[0] * grid[1]
    rows = g.add("Reshape", [raw, g.integers(0, n_anchor, 5 + head.n_class, n_cell)])
    rows = g.add("Transpose", [rows], {"perm": [0, 3, 1, 2]})
    rows = g.add("Reshape", [rows, g.integers(0, n_cell * n_anchor, 5 + head.n_class)])
    where, sides = (g.add("Gather", [rows, g.integers(*each)], {"axis": 2}) for each in ((1, 0), (3, 2)))
    objectness, classes = columns(g, rows, 4, 5), columns(g, rows, 5, 5 + head.n_class)
    cell = np.stack(np.divmod(np.arange(n_cell * n_anchor) // n_anchor, grid[1]), axis=1)
    cell_size = np.array([size[0] / grid[0], size[1] / grid[1]])
    anchors = np.tile(np.array(head.anchors, np.float32), (n_cell, 1))
    if isinstance(head, YoloHead) and head.new_coords:
        doubled = g.add("Mul", [sides, numbers(g, 2)])
        sides = g.add("Mul", [doubled, doubled])
    else:
        where, objectness = g.add("Sigmoid", [where]), g.add("Sigmoid", [objectness])
        sides = g.add("Exp", [g.add("Min", [sides, numbers(g, _LARGEST_LOG)])])
        shared = isinstance(head, RegionHead) and head.softmax
        classes = g.add("Softmax", [classes], {"axis": 2}) if shared else g.add("Sigmoid", [classes])
    if isinstance(head, YoloHead):
        grown = g.add("Mul", [where, numbers(g, head.scale_xy)])
        where = g.add("Sub", [grown, numbers(g, (head.scale_xy - 1) / 2)])
    else:
        anchors = anchors * cell_size
    centre = g.add("Mul", [g.add("Add", [where, numbers(g, cell)]), numbers(g, cell_size)])
    boxes = around(g, centre, g.add("Mul", [sides, numbers(g, anchors)]))
    return boxes, g.add("Mul", [classes, objectness])


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
