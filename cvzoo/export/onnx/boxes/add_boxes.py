"""A model's final detections as outputs of its ONNX file."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.export.onnx.boxes.candidates import numbers
from cvzoo.export.onnx.boxes.extents import as_pair, extent_of
from cvzoo.export.onnx.boxes.faster_rcnn import faster_rcnn_detections
from cvzoo.export.onnx.boxes.fcis import fcis_instances
from cvzoo.export.onnx.boxes.fpn import fpn_detections, masks_of, points_of
from cvzoo.export.onnx.boxes.nms import Detections, Rules, detections_after_nms, inside_images
from cvzoo.export.onnx.boxes.one_stage import candidates
from cvzoo.export.onnx.model_proto import Port
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.export.onnx.sizes import is_fixed
from cvzoo.links.chain import Chain
from cvzoo.links.model.detector import AbstractDetector, AbstractOneStageDetector
from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPN
from cvzoo.links.model.thresholds import AbstractThresholds

PHOTO, PHOTO_SIZE = "photo", "photo_size"


class DetectionPorts(NamedTuple):
    """Additional inputs of the file, its outputs, and the names of the outputs' values in the graph."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    values: tuple[str, ...]


def add_boxes(
    g: OnnxGraph, model: Chain, x: str, outputs: Sequence[str], names: Mapping[str, np.ndarray]
) -> DetectionPorts:
    """Add the model's detections after non-maximum suppression, by its current thresholds.

    x: the network's input in the graph; outputs: the network's outputs; names: its parameters
    Raises UnsupportedError for a model that is no detector, SizeDependenceError if its boxes need a fixed size.
    """
    sizes = g.shape_of(x)[0]
    batch: int | str = sizes[0] if is_fixed(sizes) else "batch"
    extent_input = (Port(PHOTO, "float32", (batch, 4)),)
    if isinstance(model, FasterRCNNFPN | MaskRCNNFPN | KeypointRCNNFPN):
        detections = fpn_detections(g, model.regions, x, outputs, PHOTO, rules_of(model), names)
        if isinstance(model, FasterRCNNFPN):
            return DetectionPorts(
                extent_input, *_boxes(inside_images(g, detections, PHOTO, fills_input=False, clip=model.clip))
            )
        ports, values = _boxes(detections)
        if isinstance(model, MaskRCNNFPN):
            side = 2 * model.mask_settings.roi_size
            masks = Port("masks", "float32", ("found", side, side))
            return DetectionPorts(
                extent_input, (*ports, masks), (*values, masks_of(g, model, outputs, detections, names))
            )
        n = model.point_settings.n_point
        points = Port("points", "float32", ("found", n, 2)), Port("point_scores", "float32", ("found", n))
        return DetectionPorts(
            extent_input, (*ports, *points), (*values, *points_of(g, model, outputs, detections, names))
        )
    size_input = Port(PHOTO_SIZE, "float32", (batch, 2))
    if isinstance(model, FCISResNet101):
        detections, of_instances = fcis_instances(g, model, x, outputs, PHOTO, PHOTO_SIZE, rules_of(model))
        ports, values = _boxes(detections)
        port = Port("masks", "float32", ("found", model.head.roi_size, model.head.roi_size))
        return DetectionPorts((*extent_input, size_input), (*ports, port), (*values, of_instances))
    if isinstance(model, AbstractFasterRCNN):
        detections = faster_rcnn_detections(g, model, x, outputs, PHOTO_SIZE, rules_of(model), names)
        return DetectionPorts((size_input,), *_boxes(detections))
    if not isinstance(model, AbstractOneStageDetector):
        raise UnsupportedError(f"ONNX: boxes of a {type(model).__name__} are not exported")
    candidate_boxes = candidates(g, model, x, outputs)
    if not candidate_boxes.fills_input:
        return DetectionPorts(extent_input, *_boxes(detections_after_nms(g, candidate_boxes, PHOTO, rules_of(model))))
    corner = g.add("Concat", [numbers(g, [0, 0]), as_pair(g, extent_of(g, x))], {"axis": 0})
    image = g.add("Unsqueeze", [corner, g.integers(0)])
    return DetectionPorts((), *_boxes(detections_after_nms(g, candidate_boxes, image, rules_of(model))))


def rules_of(model: AbstractThresholds) -> Rules:
    """The model's current thresholds. Raises UnsupportedError if classes have their own."""
    if model.class_score_thresh is not None:
        raise UnsupportedError(
            "ONNX: score thresholds of classes are not exported", hint='the preset "visualize", and filter by label'
        )
    clip = isinstance(model, AbstractDetector) and model.clip
    return Rules(model.score_thresh, model.nms_thresh, model.limit, clip)


def _boxes(detections: Detections) -> tuple[tuple[Port, ...], tuple[str, ...]]:
    ports = (
        Port("boxes", "float32", ("found", 4)),
        Port("scores", "float32", ("found",)),
        Port("labels", "int64", ("found",)),
        Port("photos", "int64", ("found",)),
    )
    return ports, tuple(detections)
