"""Two-stage detectors on a feature pyramid: proposals, RoiAlign, the box head, non-maximum suppression."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.export.onnx.boxes.candidates import columns, numbers, of_anchors, of_centres
from cvzoo.export.onnx.boxes.extents import at_most, counted, extent_of, scalar, strided
from cvzoo.export.onnx.boxes.nms import (
    Detections,
    Rules,
    clipped_at,
    column,
    nms_indices,
    nms_per_class,
    sorted_by_score,
)
from cvzoo.export.onnx.boxes.one_stage import level_anchors
from cvzoo.export.onnx.model_proto import Attribute
from cvzoo.export.onnx.network import add_network
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.links.model.decoding.regions import LevelProposals
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
from cvzoo.links.model.faster_rcnn_fpn.region_network import RegionNetwork
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPN


def fpn_detections(
    g: OnnxGraph,
    regions: RegionNetwork,
    x: str,
    outputs: Sequence[str],
    image: str,
    rules: Rules,
    names: Mapping[str, np.ndarray],
) -> Detections:
    """The detections of the second stage after non-maximum suppression, by descending score.

    outputs: the pyramid's maps, then the region proposal network's offsets and scores for each of them
    """
    s, n = regions.settings, len(outputs) // 3
    maps, locs, confs = outputs[:n], outputs[n : 2 * n], outputs[2 * n :]
    count = g.add("Shape", [maps[0]], {"start": 0, "end": 1})
    decoding = regions.level_proposals
    input_extent = extent_of(g, x)
    levels = [strided(g, input_extent, stride) for stride in decoding.anchors.strides]
    anchors = level_anchors(g, decoding.anchors, input_extent, levels)
    proposed = _proposals(g, decoding, anchors, locs, confs, image, count)
    boxes, images, inside = regions_by_level(g, s, maps, proposed.boxes, proposed.images, s.roi_size)
    channels = g.shape_of(maps[0])[1][0]
    # two probes with different numbers of regions, so that their number stays dynamic
    shapes = [(k, channels, s.roi_size, s.roi_size) for k in (7, 11)]
    loc, conf = add_network(g, inside, regions.box_head, shapes, names=names)
    n_class = g.shape_of(conf)[1][0] - 1
    scores = g.add("Transpose", [columns(g, g.add("Softmax", [conf], {"axis": 1}), 1, n_class + 1)], {"perm": [1, 0]})
    code = g.add("Transpose", [g.add("Reshape", [loc, g.integers(-1, n_class, 4)])], {"perm": [1, 0, 2]})
    boxes = of_proposals(g, code, boxes, regions.decoding.std)  # (L, R, 4)
    boxes, large = clipped_at(g, boxes, g.add("Gather", [image, images], {"axis": 0}), regions.decoding.min_side)
    scores = g.add("Where", [large, scores, numbers(g, 0)])
    detections, _ = nms_per_class(g, boxes, scores, images, count, rules)
    return sorted_by_score(g, detections, count, rules.limit)


def _proposals(
    g: OnnxGraph,
    decoding: LevelProposals,
    anchors: Sequence[str],
    locs: Sequence[str],
    confs: Sequence[str],
    image: str,
    count: str,
) -> Detections:
    """The region proposals of the first stage; `labels` are their levels."""
    boxes, scores, levels = [], [], []
    for level, (loc, conf, anchor) in enumerate(zip(locs, confs, anchors)):
        n_anchor = g.add("Shape", [conf], {"start": 1, "end": 2})
        k = at_most(g, n_anchor, decoding.n_proposal)
        best, index = g.add_many("TopK", [conf, k], 2, {"axis": 1})
        decoded = of_anchors(g, loc, anchor, (1, 1, 1, 1))
        boxes.append(g.add("GatherND", [decoded, g.add("Unsqueeze", [index, g.integers(2)])], {"batch_dims": 1}))
        scores.append(g.add("Sigmoid", [best]))
        levels.append(g.add("Expand", [g.integers(level), k]))
    box, large = clipped_at(
        g, g.add("Concat", boxes, {"axis": 1}), g.add("Unsqueeze", [image, g.integers(1)]), decoding.min_side
    )
    score = g.add("Concat", scores, {"axis": 1})
    good = g.add("And", [large, g.add("GreaterOrEqual", [score, numbers(g, decoding.score_thresh)])])
    score = g.add("Unsqueeze", [g.add("Where", [good, score, numbers(g, 0)]), g.integers(1)])
    of_level = g.add("Equal", [g.constant(np.arange(len(anchors))[:, None]), g.add("Concat", levels, {"axis": 0})])
    probs = g.add("Where", [of_level, score, numbers(g, 0)])
    picked = nms_indices(g, box, probs, 0, decoding.nms_thresh)
    rows = g.add("GatherND", [box, g.add("Gather", [picked, g.integers(0, 2)], {"axis": 1})])
    detections = Detections(rows, g.add("GatherND", [probs, picked]), column(g, picked, 1), column(g, picked, 0))
    return sorted_by_score(g, detections, count, decoding.n_proposal)


def regions_by_level(
    g: OnnxGraph, s: FasterRCNNFPNConfig, maps: Sequence[str], boxes: str, images: str, size: int
) -> tuple[str, str, str]:
    """Boxes (R, 4), images (R,) and regions (R, C, size, size), level by level, as `pyramid_regions`."""
    by_level = _by_level(g, s, maps, boxes, images, size)[:3]
    in_levels, of_images, regions = [g.add("Concat", parts, {"axis": 0}) for parts in by_level]
    return in_levels, of_images, regions


def regions_in_order(
    g: OnnxGraph, s: FasterRCNNFPNConfig, maps: Sequence[str], boxes: str, images: str, size: int
) -> str:
    """Regions (R, C, size, size) of boxes (R, 4) in images (R,), in the order of the boxes."""
    _, _, regions, ranks = _by_level(g, s, maps, boxes, images, size)
    rank = g.add("Concat", ranks, {"axis": 0})
    _, back = g.add_many("TopK", [rank, g.add("Shape", [rank])], 2, {"axis": 0, "largest": 0})
    return g.add("Gather", [g.add("Concat", regions, {"axis": 0}), back], {"axis": 0})


def _by_level(
    g: OnnxGraph, s: FasterRCNNFPNConfig, maps: Sequence[str], boxes: str, images: str, size: int
) -> tuple[list[str], list[str], list[str], list[str]]:
    """For each level its boxes, images, regions, and their indices among all boxes."""
    sides = g.add("Sub", [columns(g, boxes, 2, 4), columns(g, boxes, 0, 2)])
    side = g.add("Sqrt", [g.add("ReduceProd", [sides], {"axes": [1], "keepdims": 0})])
    octave = g.add("Div", [g.add("Log", [g.add("Div", [side, numbers(g, 224)])]), numbers(g, math.log(2))])
    level = g.add("Floor", [g.add("Add", [g.add("Add", [octave, numbers(g, 4)]), numbers(g, 1e-6)])])
    first, last = (round(math.log2(stride)) for stride in (s.strides[0], s.strides[-1]))
    level = g.add("Clip", [level, numbers(g, first), numbers(g, last)])
    by_level: tuple[list[str], list[str], list[str], list[str]] = ([], [], [], [])
    rank = counted(g, g.add("Shape", [images]))
    for i, stride in enumerate(s.strides):
        in_level = g.add("Equal", [level, numbers(g, first + i)])
        box, image, index = (g.add("Compress", [each, in_level], {"axis": 0}) for each in (boxes, images, rank))
        turned = g.add("Gather", [box, g.integers(1, 0, 3, 2)], {"axis": 1})
        attributes = {
            "output_height": size,
            "output_width": size,
            "sampling_ratio": s.sampling_ratio or 0,
            "spatial_scale": 1 / stride,
            "coordinate_transformation_mode": "half_pixel" if s.roi_aligned else "output_half_pixel",
        }
        for parts, part in zip(by_level, (box, image, g.add("RoiAlign", [maps[i], turned, image], attributes), index)):
            parts.append(part)
    return by_level


def of_proposals(g: OnnxGraph, code: str, bbox: str, std: Sequence[float], mean: Sequence[float] = (0, 0, 0, 0)) -> str:
    """Boxes (..., R, 4) from offsets (..., R, 4) to boxes (R, 4), as `decode_bbox` in cvzoo.geometry."""
    first, last = columns(g, bbox, 0, 2), columns(g, bbox, 2, 4)
    size = g.add("Sub", [last, first])
    centre = g.add("Add", [first, g.add("Mul", [size, numbers(g, 0.5)])])
    return of_centres(g, code, centre, size, std, mean)


def masks_of(
    g: OnnxGraph, model: MaskRCNNFPN, maps: Sequence[str], detections: Detections, names: Mapping[str, np.ndarray]
) -> str:
    """(K, M, M) float32: the foreground probability of each cell of a box."""
    s, size = model.settings, model.mask_settings.roi_size
    regions = regions_in_order(g, s, maps, detections.boxes, detections.images, size)
    shapes = [(k, s.channels, size, size) for k in (7, 11)]
    (logits,) = add_network(g, regions, model.mask_head, shapes, names=names)
    of_label = g.add("GatherND", [logits, g.add("Unsqueeze", [detections.labels, g.integers(1)])], {"batch_dims": 1})
    return g.add("Sigmoid", [of_label])


def points_of(
    g: OnnxGraph, model: KeypointRCNNFPN, maps: Sequence[str], detections: Detections, names: Mapping[str, np.ndarray]
) -> tuple[str, str]:
    """(K, P, 2) float32 y x, pixels of the network's input, and (K, P) float32 scores, as `decode_points`."""
    s, size = model.settings, model.point_settings.roi_size
    regions = regions_in_order(g, s, maps, detections.boxes, detections.images, size)
    shapes = [(k, s.channels, size, size) for k in (7, 11)]
    (large,) = add_network(g, regions, model.point_head, shapes, names=names)
    first = columns(g, detections.boxes, 0, 2)
    sides = g.add("Max", [g.add("Sub", [columns(g, detections.boxes, 2, 4), first]), numbers(g, 1)])
    n_point = model.point_settings.n_point

    def best_places(k: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        row = g.add("Unsqueeze", [k, g.integers(0)])
        one, corner, side = (g.add("Gather", [each, row], {"axis": 0}) for each in (large, first, sides))
        pixels = g.add("Squeeze", [g.add("Ceil", [side]), g.integers(0)])
        extent = g.add("Cast", [pixels], {"to": 7})
        attributes: dict[str, Attribute] = {
            "mode": "cubic",
            "cubic_coeff_a": -0.75,
            "coordinate_transformation_mode": "half_pixel",
        }
        shape = g.add("Concat", [g.integers(1, n_point), extent], {"axis": 0})
        enlarged = g.add("Reshape", [g.add("Resize", [one, "", "", shape], attributes), g.integers(n_point, -1)])
        best = g.add("ArgMax", [enlarged], {"axis": 1, "keepdims": 0})  # (P,)
        width = g.add("Gather", [extent, g.integers(1)])
        y = g.add("Div", [best, width])
        x = g.add("Sub", [best, g.add("Mul", [y, width])])
        place = g.add("Concat", [g.add("Unsqueeze", [each, g.integers(1)]) for each in (y, x)], {"axis": 1})
        middle = g.add("Add", [g.add("Cast", [place], {"to": 1}), numbers(g, 0.5)])
        point = g.add("Add", [g.add("Mul", [middle, g.add("Div", [side, pixels])]), corner])
        return (), (point, g.add("ReduceMax", [enlarged], {"axes": [1], "keepdims": 0}))

    count = scalar(g, g.add("Shape", [detections.images]))
    points, scores = g.loop(count, best_places, scan_outputs=[("float32", (n_point, 2)), ("float32", (n_point,))])
    return points, scores
