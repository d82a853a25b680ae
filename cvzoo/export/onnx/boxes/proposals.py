"""Regions that one map proposes, as `ProposalCreator` in cvzoo.links has them."""

from typing import NamedTuple

import numpy as np

from cvzoo.export.onnx.boxes.candidates import columns, numbers, of_anchors
from cvzoo.export.onnx.boxes.extents import Extent, anchors_at, as_pair, at_most, counted, extent_of, fixed_step
from cvzoo.export.onnx.boxes.suppression import column, cut_at, picked_by_nms
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.links.model.faster_rcnn.region_proposal_network import RegionProposalNetwork

_LEAST = -3e38


class Proposed(NamedTuple):
    """Names of values: boxes (R, 4), pixels of the network's input; images (R,) int64, which image each is in."""

    boxes: str
    photos: str


def proposed_regions(
    g: OnnxGraph, rpn: RegionProposalNetwork, whole: Extent, grid: Extent, loc: str, score: str, scale: str
) -> Proposed:
    """The best regions, image by image, best first.

    whole, grid: of the network's input and of the map; loc: (B, S, 4), score: (B, S, 2)
    scale: (B, 1), the network's pixels for one of the image
    """
    rules = rpn.proposal_creator
    anchors = anchors_at(g, grid, fixed_step(g, rpn.feat_stride), rpn.anchor_base)
    frame = g.add("Concat", [numbers(g, [0, 0]), as_pair(g, whole)], {"axis": 0})
    boxes, _ = cut_at(g, of_anchors(g, loc, anchors, (1, 1, 1, 1)), frame)
    sides = g.add("Sub", [columns(g, boxes, 2, 4), columns(g, boxes, 0, 2)])
    side = g.add("ReduceMin", [sides], {"axes": [2], "keepdims": 0})  # (B, S)
    least = g.add("Mul", [scale, numbers(g, rules.min_size)])
    large = g.add("And", [g.add("GreaterOrEqual", [side, least]), g.add("Greater", [side, numbers(g, 0)])])
    foreground = g.add("Gather", [score, g.constant(np.array(1, np.int64))], {"axis": 2})
    count = g.add("Shape", [foreground], {"start": 1, "end": 2})
    if rules.n_test_pre_nms > 0:
        count = at_most(g, count, rules.n_test_pre_nms)
    best, index = g.add_many("TopK", [g.add("Where", [large, foreground, numbers(g, _LEAST)]), count], 2, {"axis": 1})
    boxes = g.add("GatherND", [boxes, g.add("Unsqueeze", [index, g.integers(2)])], {"batch_dims": 1})
    # scores may be any numbers: the suppression sees ranks, which are above 0
    rank = g.add("Cast", [g.add("Sub", [count, counted(g, count)])], {"to": 1})
    rank = g.add("Where", [g.add("Greater", [best, numbers(g, _LEAST)]), rank, numbers(g, 0)])
    most = rules.n_test_post_nms if rules.n_test_post_nms > 0 else None
    probs = g.add("Unsqueeze", [rank, g.integers(1)])
    picked = picked_by_nms(g, boxes, probs, 0, rules.nms_thresh, limit=most)
    rows = g.add("GatherND", [boxes, g.add("Gather", [picked, g.integers(0, 2)], {"axis": 1})])
    return Proposed(rows, column(g, picked, 0))


def scale_and_place(g: OnnxGraph, x: str, photo_size: str) -> tuple[str, str]:
    """(B, 1): x's pixels for one of the image, along the width; and (B, 4): where with that scale the image lies in x.

    photo_size: (B, 2) float32, height and width of the images as they were read
    """
    width = g.add("Cast", [extent_of(g, x).width], {"to": 1})
    scale = g.add("Div", [width, columns(g, photo_size, 1, 2)])
    seen = g.add("Mul", [photo_size, scale])
    return scale, g.add("Concat", [g.add("Mul", [seen, numbers(g, 0)]), seen], {"axis": 1})
