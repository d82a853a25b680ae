"""Two-stage detectors on a single feature map: Faster R-CNN on VGG16, and Light-Head R-CNN."""

from collections.abc import Mapping, Sequence

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.export.onnx.boxes.candidates import columns
from cvzoo.export.onnx.boxes.cells import (
    max_pooled,
    maxima_of_samples,
    position_maps,
    proposed_regions,
    scale_and_extent,
)
from cvzoo.export.onnx.boxes.extents import extent_of
from cvzoo.export.onnx.boxes.fpn import of_proposals
from cvzoo.export.onnx.boxes.nms import Detections, Rules, clipped_at, inside_images, nms_per_class, sorted_by_score
from cvzoo.export.onnx.network import Network, add_network
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import VGG16RoIHead
from cvzoo.links.model.faster_rcnn.region_proposal_network import RegionProposalNetwork
from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import LightHeadRCNNResNet101Head


def first_stage(model: AbstractFasterRCNN) -> Network:
    """From x: the map for RoI pooling, offsets (B, S, 4), scores of back- and foreground (B, S, 2)."""

    def call(x: Variable) -> tuple[Variable, ...]:
        for_rpn, for_head = model.features(x)
        if isinstance(model.head, LightHeadRCNNResNet101Head):
            for_head = model.head.global_context_module(for_head)
        return for_head, *proposal_outputs(model.rpn, for_rpn)

    return call


def proposal_outputs(rpn: RegionProposalNetwork, x: Variable) -> tuple[Variable, Variable]:
    """Raw outputs of the region proposal network: offsets (B, S, 4), scores (B, S, 2)."""
    h = F.relu(rpn.conv1(x))
    loc, score = (F.transpose(each(h), (0, 2, 3, 1)) for each in (rpn.loc, rpn.score))
    return F.reshape(loc, (h.shape[0], -1, 4)), F.reshape(score, (h.shape[0], -1, 2))


def faster_rcnn_detections(
    g: OnnxGraph,
    model: AbstractFasterRCNN,
    x: str,
    outputs: Sequence[str],
    photo_size: str,
    rules: Rules,
    names: Mapping[str, np.ndarray],
) -> Detections:
    """The detections of the second stage after non-maximum suppression, by descending score.

    outputs: of `first_stage`; photo_size: (B, 2)
    """
    of_head, loc, score = outputs
    scale, image = scale_and_extent(g, x, photo_size)
    proposed = proposed_regions(g, model.rpn, extent_of(g, x), extent_of(g, of_head), loc, score, scale)
    head = model.head
    if isinstance(head, VGG16RoIHead):
        size = head.roi_size
        regions = max_pooled(g, of_head, proposed, size, head.spatial_scale)
        channels = g.shape_of(of_head)[1][0]
    elif isinstance(head, LightHeadRCNNResNet101Head):
        size = head.roi_size
        regions = maxima_of_samples(g, position_maps(g, of_head, size), proposed, size, head.spatial_scale)
        channels = g.shape_of(of_head)[1][0] // size**2
    else:
        raise UnsupportedError(f"ONNX: regions of a {type(head).__name__} are not exported")
    # two probes with different numbers of regions, so that their number stays dynamic
    shapes = [(k, channels, size, size) for k in (7, 11)]
    loc, conf = add_network(g, regions, _layers(head), shapes, names=names)
    n_class = model.n_class
    scores = g.add("Transpose", [columns(g, g.add("Softmax", [conf], {"axis": 1}), 1, n_class)], {"perm": [1, 0]})
    code = g.add("Transpose", [g.add("Reshape", [loc, g.integers(-1, n_class, 4)])], {"perm": [1, 0, 2]})
    code = g.add("Slice", [code, g.integers(1), g.integers(n_class), g.integers(0)])  # without the background's boxes
    boxes = of_proposals(g, code, proposed.boxes, model.decoding.std, model.decoding.mean)
    boxes, _ = clipped_at(g, boxes, g.add("Gather", [image, proposed.images], {"axis": 0}))
    count = g.add("Shape", [of_head], {"start": 0, "end": 1})
    detections, _ = nms_per_class(g, boxes, scores, proposed.images, count, rules)
    return inside_images(
        g, sorted_by_score(g, detections, count, rules.limit), image, fills_input=False, clip=rules.clip
    )


def _layers(head: VGG16RoIHead | LightHeadRCNNResNet101Head) -> Network:
    """From regions (R, C, size, size): offsets and scores of the head."""
    if isinstance(head, VGG16RoIHead):
        layers = [head.fc6, head.fc7]
    else:
        layers = [head.fc1]

    def call(x: Variable) -> tuple[Variable, Variable]:
        for layer in layers:
            x = F.relu(layer(x))
        return head.cls_loc(x), head.score(x)

    return call
