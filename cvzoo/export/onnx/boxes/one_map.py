"""Detectors that look twice at one map: Faster R-CNN on VGG16, and Light-Head R-CNN."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import cvzoo.functions as F
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.export.onnx.boxes.candidates import columns
from cvzoo.export.onnx.boxes.cells import (
    greatest_of_samples,
    max_pooled,
    placed_maps,
    proposed_regions,
    scale_and_place,
)
from cvzoo.export.onnx.boxes.extents import extent_of
from cvzoo.export.onnx.boxes.suppression import Kept, Rules, best_first, cut_at, in_photos, picked_of_classes
from cvzoo.export.onnx.boxes.two_stage import of_proposals
from cvzoo.export.onnx.network import add_network
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import VGG16RoIHead
from cvzoo.links.model.faster_rcnn.region_proposal_network import RegionProposalNetwork
from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import LightHeadRCNNResNet101Head


def first_stage(model: AbstractFasterRCNN) -> Callable[[Any], Any]:
    """From x: the map that regions are cut out of, offsets (B, S, 4), scores of back- and foreground (B, S, 2)."""

    def call(x: Any) -> tuple[Any, ...]:
        for_rpn, for_head = model.features(x)
        if isinstance(model.head, LightHeadRCNNResNet101Head):
            for_head = model.head.global_context_module(for_head)
        return for_head, *proposing(model.rpn, for_rpn)

    return call


def proposing(rpn: RegionProposalNetwork, x: Any) -> tuple[Any, Any]:
    """What the region proposal network says of its map, before anything is proposed."""
    h = F.relu(rpn.conv1(x))
    loc, score = (F.transpose(each(h), (0, 2, 3, 1)) for each in (rpn.loc, rpn.score))
    return F.reshape(loc, (h.shape[0], -1, 4)), F.reshape(score, (h.shape[0], -1, 2))


def found_on_one_map(
    g: OnnxGraph,
    model: AbstractFasterRCNN,
    x: str,
    outputs: Sequence[str],
    photo_size: str,
    rules: Rules,
    names: Mapping[str, np.ndarray],
) -> Kept:
    """What is left after the second stage and its suppression, best first.

    outputs: what `first_stage` gives; photo_size: (B, 2)
    """
    of_head, loc, score = outputs
    scale, photo = scale_and_place(g, x, photo_size)
    found = proposed_regions(g, model.rpn, extent_of(g, x), extent_of(g, of_head), loc, score, scale)
    head = model.head
    if isinstance(head, VGG16RoIHead):
        size = head.roi_size
        regions = max_pooled(g, of_head, found, size, head.spatial_scale)
        channels = g.shape_of(of_head)[1][0]
    elif isinstance(head, LightHeadRCNNResNet101Head):
        size = head.roi_size
        regions = greatest_of_samples(g, placed_maps(g, of_head, size), found, size, head.spatial_scale)
        channels = g.shape_of(of_head)[1][0] // size**2
    else:
        raise UnsupportedError(f"ONNX: regions of a {type(head).__name__} are not exported")
    shapes = [(k, channels, size, size) for k in (7, 11)]
    loc, conf = add_network(g, regions, _layers(head), shapes, names=names)
    n_class = model.n_class
    scores = g.add("Transpose", [columns(g, g.add("Softmax", [conf], {"axis": 1}), 1, n_class)], {"perm": [1, 0]})
    code = g.add("Transpose", [g.add("Reshape", [loc, g.integers(-1, n_class, 4)])], {"perm": [1, 0, 2]})
    code = g.add("Slice", [code, g.integers(1), g.integers(n_class), g.integers(0)])  # no boxes of background
    boxes = of_proposals(g, code, found.boxes, model.decoding.std, model.decoding.mean)
    boxes, _ = cut_at(g, boxes, g.add("Gather", [photo, found.photos], {"axis": 0}))
    count = g.add("Shape", [of_head], {"start": 0, "end": 1})
    kept, _ = picked_of_classes(g, boxes, scores, found.photos, count, rules)
    return in_photos(g, best_first(g, kept, count, rules.limit), photo, whole=False, clip=rules.clip)


def _layers(head: VGG16RoIHead | LightHeadRCNNResNet101Head) -> Callable[[Any], Any]:
    """What the head makes of regions (R, C, size, size)."""
    if isinstance(head, VGG16RoIHead):
        layers = [head.fc6, head.fc7]
    else:
        layers = [head.fc1]

    def call(x: Any) -> tuple[Any, Any]:
        for layer in layers:
            x = F.relu(layer(x))
        return head.cls_loc(x), head.score(x)

    return call
