"""FCIS instance segmentation: position-sensitive RoI pooling in two iterations, then mask voting."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.export.onnx.boxes.candidates import columns, numbers
from cvzoo.export.onnx.boxes.cells import Proposed, concatenated_maps, means_of_pixels, position_maps, proposed_regions
from cvzoo.export.onnx.boxes.extents import as_pair, extent_of
from cvzoo.export.onnx.boxes.faster_rcnn import proposal_outputs
from cvzoo.export.onnx.boxes.fpn import of_proposals
from cvzoo.export.onnx.boxes.nms import Detections, Rules, clipped_at, nms_per_class, sorted_by_score
from cvzoo.export.onnx.boxes.voting import Voters, voted
from cvzoo.export.onnx.network import Network
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101


class RegionOutputs(NamedTuple):
    """Logits of R regions: mask (R, 2, S, S) of back- and foreground, loc (R, 2, 4) offsets, classes (R, n_class)."""

    mask: str
    loc: str
    classes: str


def fcis_first_stage(model: FCISResNet101) -> Network:
    """From x: maps of masks and classes, maps of offsets, then the region proposal network's (B, S, 4), (B, S, 2)."""

    def call(x: Variable) -> tuple[Variable, ...]:
        for_rpn, for_head = model.features(x)
        h = F.relu(model.head.conv1(for_head))
        return model.head.cls_seg(h), model.head.ag_loc(h), *proposal_outputs(model.rpn, for_rpn)

    return call


def fcis_instances(
    g: OnnxGraph, model: FCISResNet101, x: str, outputs: Sequence[str], image: str, photo_size: str, rules: Rules
) -> tuple[Detections, str]:
    """The instances by descending score, boxes in pixels of x; and (K, S, S) float32, mask probabilities.

    outputs: of `fcis_first_stage`
    photo: (B, 4), extents of the images in x
    photo_size: (B, 2), their sizes
    """
    of_seg, of_loc, loc, score = outputs
    head = model.head
    scale = g.add("Div", [_sides(g, image, 1), columns(g, photo_size, 1, 2)])  # (B, 1)
    proposed = proposed_regions(g, model.rpn, extent_of(g, x), extent_of(g, of_seg), loc, score, scale)
    # an empty box, which is discarded later: some runtimes fail on RoiAlign without any region
    empty = numbers(g, [[0, 0, 0, 0]]), g.integers(0)
    proposed = Proposed(*[g.add("Concat", pair, {"axis": 0}) for pair in zip(proposed, empty)])
    maps = concatenated_maps(g, position_maps(g, of_seg, head.group_size), position_maps(g, of_loc, head.group_size))

    def head_outputs(at: Proposed) -> RegionOutputs:
        return _region_outputs(
            g, means_of_pixels(g, maps, at, head.roi_size, head.spatial_scale), head.n_class, head.roi_size
        )

    outputs_of_regions = head_outputs(proposed)
    if model.iter2:
        code = g.add("Gather", [outputs_of_regions.loc, g.constant(np.array(1, np.int64))], {"axis": 1})
        moved = of_proposals(g, code, proposed.boxes, head.loc_normalize_std, head.loc_normalize_mean)
        frame = g.add("Concat", [numbers(g, [0, 0]), as_pair(g, extent_of(g, x))], {"axis": 0})
        refined = Proposed(clipped_at(g, moved, frame)[0], proposed.images)
        outputs_of_regions = RegionOutputs(
            *[g.add("Concat", pair, {"axis": 0}) for pair in zip(outputs_of_regions, head_outputs(refined))]
        )
        proposed = Proposed(*[g.add("Concat", pair, {"axis": 0}) for pair in zip(proposed, refined)])
    prob = g.add("Softmax", [outputs_of_regions.mask], {"axis": 1})
    prob = g.add("Gather", [prob, g.constant(np.array(1, np.int64))], {"axis": 1})
    classes = g.add("Softmax", [outputs_of_regions.classes], {"axis": 1})
    # from here on in pixels of the original images, where masks are merged
    sizes = g.add("Gather", [photo_size, proposed.images], {"axis": 0})
    scales = g.add("Gather", [scale, proposed.images], {"axis": 0})
    frames = g.add("Concat", [g.add("Mul", [sizes, numbers(g, 0)]), sizes], {"axis": 1})
    boxes, large = clipped_at(g, g.add("Div", [proposed.boxes, scales]), frames)
    count = g.add("Shape", [x], {"start": 0, "end": 1})
    detections, index = _suppressed(g, boxes, classes, large, proposed.images, count, rules)
    voters = Voters(boxes, proposed.images, prob, classes, head.roi_size)
    masked = voted(g, voters, detections, index, model.mask_merge_thresh, model.binary_thresh)
    sides = g.add("Sub", [columns(g, masked.boxes, 2, 4), columns(g, masked.boxes, 0, 2)])
    side = g.add("ReduceMin", [sides], {"axes": [1], "keepdims": 0})
    large_enough = g.add("And", [masked.has_mask, g.add("Greater", [side, numbers(g, model.min_drop_size)])])
    scales = g.add("Gather", [scale, detections.images], {"axis": 0})
    detections = detections._replace(boxes=g.add("Mul", [masked.boxes, scales]))
    *rows, masks = [g.add("Compress", [each, large_enough], {"axis": 0}) for each in (*detections, masked.masks)]
    return Detections(*rows), masks


def _sides(g: OnnxGraph, image: str, axis: int) -> str:
    return g.add("Sub", [columns(g, image, 2 + axis, 3 + axis), columns(g, image, axis, axis + 1)])


def _region_outputs(g: OnnxGraph, cells: str, n_class: int, size: int) -> RegionOutputs:
    """The head's outputs from the regions' cells (R, 2 * n_class + 8, S, S)."""
    seg = g.add("Slice", [cells, g.integers(0), g.integers(2 * n_class), g.integers(1)])
    loc = g.add("Slice", [cells, g.integers(2 * n_class), g.integers(2 * n_class + 8), g.integers(1)])
    seg = g.add("Reshape", [seg, g.integers(-1, n_class, 2, size, size)])
    either = g.add("ReduceMax", [seg], {"axes": [2], "keepdims": 0})
    classes = g.add("ReduceMean", [either], {"axes": [2, 3], "keepdims": 0})
    likeliest = g.add("ArgMax", [classes], {"axis": 1, "keepdims": 1})  # (R, 1)
    loc = g.add("Reshape", [g.add("ReduceMean", [loc], {"axes": [2, 3], "keepdims": 0}), g.integers(-1, 2, 4)])
    return RegionOutputs(g.add("GatherND", [seg, likeliest], {"batch_dims": 1}), loc, classes)


def _suppressed(
    g: OnnxGraph, boxes: str, classes: str, large: str, images: str, count: str, rules: Rules
) -> tuple[Detections, str]:
    """The detections by descending score, and their region indices (K,) int64."""
    end = g.integers(np.iinfo(np.int64).max)
    scores = g.add("Transpose", [g.add("Slice", [classes, g.integers(1), end, g.integers(1)])], {"perm": [1, 0]})
    n_class = g.add("Shape", [scores], {"start": 0, "end": 1})
    shape = g.add("Concat", [n_class, g.integers(1, 1)], {"axis": 0})
    repeated = g.add("Expand", [g.add("Unsqueeze", [boxes, g.integers(0)]), shape])  # (L, R, 4)
    scores = g.add("Where", [large, scores, numbers(g, 0)])
    detections, index = nms_per_class(g, repeated, scores, images, count, rules)
    numbered = detections._replace(boxes=g.add("Unsqueeze", [index, g.integers(1)]))
    ordered = sorted_by_score(g, numbered, count, rules.limit)
    index = g.add("Squeeze", [ordered.boxes, g.integers(1)])
    return ordered._replace(boxes=g.add("Gather", [boxes, index], {"axis": 0})), index
