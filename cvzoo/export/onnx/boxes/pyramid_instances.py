"""Instance masks and keypoints of detections on a feature pyramid, from the head that runs on each detected box."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.export.onnx.boxes.candidates import columns, numbers
from cvzoo.export.onnx.boxes.extents import scalar
from cvzoo.export.onnx.boxes.suppression import Kept
from cvzoo.export.onnx.boxes.two_stage import regions_in_order
from cvzoo.export.onnx.model_proto import Attribute
from cvzoo.export.onnx.network import add_network
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPN


def masks_of(g: OnnxGraph, model: MaskRCNNFPN, maps: Sequence[str], kept: Kept, names: Mapping[str, np.ndarray]) -> str:
    """(K, M, M) float32: how likely each cell of a box belongs to its object."""
    s, size = model.settings, model.mask_settings.roi_size
    regions = regions_in_order(g, s, maps, kept.boxes, kept.photos, size)
    shapes = [(k, s.channels, size, size) for k in (7, 11)]
    (logits,) = add_network(g, regions, model.mask_head, shapes, names=names)
    own = g.add("GatherND", [logits, g.add("Unsqueeze", [kept.labels, g.integers(1)])], {"batch_dims": 1})
    return g.add("Sigmoid", [own])


def points_of(
    g: OnnxGraph, model: KeypointRCNNFPN, maps: Sequence[str], kept: Kept, names: Mapping[str, np.ndarray]
) -> tuple[str, str]:
    """(K, P, 2) float32 y x, pixels of the network's input, and (K, P) float32 scores, as `decode_points`."""
    s, size = model.settings, model.point_settings.roi_size
    regions = regions_in_order(g, s, maps, kept.boxes, kept.photos, size)
    shapes = [(k, s.channels, size, size) for k in (7, 11)]
    (large,) = add_network(g, regions, model.point_head, shapes, names=names)
    first = columns(g, kept.boxes, 0, 2)
    sides = g.add("Max", [g.add("Sub", [columns(g, kept.boxes, 2, 4), first]), numbers(g, 1)])
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

    count = scalar(g, g.add("Shape", [kept.photos]))
    points, scores = g.loop(count, best_places, made=[("float32", (n_point, 2)), ("float32", (n_point,))])
    return points, scores
