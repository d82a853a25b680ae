"""Detectors that look twice on a pyramid: proposals, regions by RoiAlign, the second stage, its suppression."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.export.onnx.boxes.candidates import columns, numbers, of_anchors, of_centres
from cvzoo.export.onnx.boxes.suppression import (
    Kept,
    best_first,
    column,
    cut_at,
    in_photos,
    picked_by_nms,
)
from cvzoo.export.onnx.network import add_network
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.faster_rcnn_fpn.settings import FasterRCNNFPNSettings

_MIN_PROPOSAL, _MIN_BOX = 1e-3, 1e-2  # sides in pixels, as in cvzoo.links


def found_by_regions(
    g: OnnxGraph,
    model: FasterRCNNFPN,
    outputs: Sequence[str],
    photo: str,
    size: tuple[int, int],
    names: Mapping[str, np.ndarray],
) -> Kept:
    """What the detector finds, from the pyramid's maps and what the region proposal network says of each of them."""
    s, n = model.settings, len(outputs) // 3
    maps, locs, confs = outputs[:n], outputs[n : 2 * n], outputs[2 * n :]
    count = g.add("Shape", [maps[0]], {"start": 0, "end": 1})
    proposed = _proposals(g, s, model.regions.anchors(size), locs, confs, photo, count)
    bbox, photos, regions = _regions(g, s, maps, proposed)
    channels = g.shape_of(maps[0])[1][0]
    shapes = [(k, channels, s.roi_size, s.roi_size) for k in (7, 11)]
    loc, conf = add_network(g, regions, model.regions.box_head, shapes, names=names)
    n_class = model.n_fg_class
    scores = g.add("Transpose", [columns(g, g.add("Softmax", [conf], {"axis": 1}), 1, n_class + 1)], {"perm": [1, 0]})
    code = g.add("Transpose", [g.add("Reshape", [loc, g.integers(-1, n_class, 4)])], {"perm": [1, 0, 2]})
    boxes = _of_proposals(g, code, bbox, s.loc_std)
    boxes, large = cut_at(g, boxes, g.add("Gather", [photo, photos], {"axis": 0}), _MIN_BOX)
    scores = g.add("Where", [large, scores, numbers(g, 0)])  # (L, R)
    # a box is for one class only: each class is what a photo is elsewhere, and a photo what a class is
    numbers_of_photos = g.add("Range", [g.constant(np.array(0, np.int64)), _scalar(g, count), _one(g)])
    mine = g.add("Equal", [g.add("Unsqueeze", [numbers_of_photos, g.integers(1)]), photos])  # (B, R)
    probs = g.add("Where", [mine, g.add("Unsqueeze", [scores, g.integers(1)]), numbers(g, 0)])
    picked = picked_by_nms(g, boxes, probs, model.score_thresh, model.nms_thresh)
    rows = g.add("GatherND", [boxes, g.add("Gather", [picked, g.integers(0, 2)], {"axis": 1})])
    kept = Kept(rows, g.add("GatherND", [probs, picked]), column(g, picked, 0), column(g, picked, 1))
    return in_photos(g, best_first(g, kept, count, model.limit), photo, whole=False, clip=model.clip)


def _proposals(
    g: OnnxGraph,
    s: FasterRCNNFPNSettings,
    anchors: Sequence[np.ndarray],
    locs: Sequence[str],
    confs: Sequence[str],
    photo: str,
    count: str,
) -> Kept:
    """The best boxes of the first stage; `labels` are their levels."""
    boxes, scores, levels = [], [], []
    for level, (loc, conf, anchor) in enumerate(zip(locs, confs, anchors)):
        k = min(s.n_proposal, len(anchor))
        best, index = g.add_many("TopK", [conf, g.integers(k)], 2, {"axis": 1})
        every = of_anchors(g, loc, anchor, (1, 1, 1, 1))
        boxes.append(g.add("GatherND", [every, g.add("Unsqueeze", [index, g.integers(2)])], {"batch_dims": 1}))
        scores.append(g.add("Sigmoid", [best]))
        levels += [level] * k
    box, large = cut_at(
        g, g.add("Concat", boxes, {"axis": 1}), g.add("Unsqueeze", [photo, g.integers(1)]), _MIN_PROPOSAL
    )
    score = g.add("Concat", scores, {"axis": 1})
    good = g.add("And", [large, g.add("GreaterOrEqual", [score, numbers(g, s.rpn_score_thresh)])])
    score = g.add("Unsqueeze", [g.add("Where", [good, score, numbers(g, 0)]), g.integers(1)])
    of_level = g.constant(np.array(levels) == np.arange(len(anchors))[:, None])
    probs = g.add("Where", [of_level, score, numbers(g, 0)])
    picked = picked_by_nms(g, box, probs, 0, s.rpn_nms_thresh)
    rows = g.add("GatherND", [box, g.add("Gather", [picked, g.integers(0, 2)], {"axis": 1})])
    kept = Kept(rows, g.add("GatherND", [probs, picked]), column(g, picked, 1), column(g, picked, 0))
    return best_first(g, kept, count, s.n_proposal)


def _regions(g: OnnxGraph, s: FasterRCNNFPNSettings, maps: Sequence[str], proposed: Kept) -> tuple[str, str, str]:
    """Boxes (R, 4), photos (R,) and regions (R, C, size, size), level by level, as `pyramid_regions` has them."""
    sides = g.add("Sub", [columns(g, proposed.boxes, 2, 4), columns(g, proposed.boxes, 0, 2)])
    side = g.add("Sqrt", [g.add("ReduceProd", [sides], {"axes": [1], "keepdims": 0})])
    octave = g.add("Div", [g.add("Log", [g.add("Div", [side, numbers(g, 224)])]), numbers(g, math.log(2))])
    level = g.add("Floor", [g.add("Add", [g.add("Add", [octave, numbers(g, 4)]), numbers(g, 1e-6)])])
    first, last = (round(math.log2(stride)) for stride in (s.strides[0], s.strides[-1]))
    level = g.add("Clip", [level, numbers(g, first), numbers(g, last)])
    boxes, photos, regions = [], [], []
    for i, stride in enumerate(s.strides):
        here = g.add("Equal", [level, numbers(g, first + i)])
        box, photo = (g.add("Compress", [each, here], {"axis": 0}) for each in (proposed.boxes, proposed.photos))
        turned = g.add("Gather", [box, g.integers(1, 0, 3, 2)], {"axis": 1})
        attributes = {
            "output_height": s.roi_size,
            "output_width": s.roi_size,
            "sampling_ratio": s.sampling_ratio or 0,
            "spatial_scale": 1 / stride,
            "coordinate_transformation_mode": "half_pixel" if s.roi_aligned else "output_half_pixel",
        }
        regions.append(g.add("RoiAlign", [maps[i], turned, photo], attributes))
        boxes.append(box)
        photos.append(photo)
    box, photo, region = (g.add("Concat", each, {"axis": 0}) for each in (boxes, photos, regions))
    return box, photo, region


def _of_proposals(g: OnnxGraph, code: str, bbox: str, std: Sequence[float]) -> str:
    """Boxes (L, R, 4) of offsets (L, R, 4) from boxes (R, 4), as `decode_bbox` in cvzoo.geometry."""
    first, last = columns(g, bbox, 0, 2), columns(g, bbox, 2, 4)
    size = g.add("Sub", [last, first])
    centre = g.add("Add", [first, g.add("Mul", [size, numbers(g, 0.5)])])
    return of_centres(g, code, centre, size, std)


def _scalar(g: OnnxGraph, x: str) -> str:
    return g.add("Squeeze", [x, g.integers(0)])


def _one(g: OnnxGraph) -> str:
    return g.constant(np.array(1, np.int64))
