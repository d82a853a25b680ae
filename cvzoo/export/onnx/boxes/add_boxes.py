"""What a model finds as outputs of its file."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.export.onnx.boxes.candidates import numbers
from cvzoo.export.onnx.boxes.extents import as_pair, extent_of
from cvzoo.export.onnx.boxes.fcis import found_by_place
from cvzoo.export.onnx.boxes.one_map import found_on_one_map
from cvzoo.export.onnx.boxes.one_stage import candidates
from cvzoo.export.onnx.boxes.suppression import Kept, Rules, in_photos, suppressed
from cvzoo.export.onnx.boxes.two_stage import found_by_regions, masks_of, points_of
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


class FoundPorts(NamedTuple):
    """The further inputs that a file has, its outputs, and the names of their values in the graph."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    values: tuple[str, ...]


def add_boxes(
    g: OnnxGraph, model: Chain, x: str, outputs: Sequence[str], names: Mapping[str, np.ndarray]
) -> FoundPorts:
    """What the model finds, by its present thresholds.

    x: the network's input in the graph; outputs: what the network gives; names: its parameters
    Raises UnsupportedError for a model that finds nothing, SizeDependenceError where it could for one size only.
    """
    sizes = g.shape_of(x)[0]
    batch: int | str = sizes[0] if is_fixed(sizes) else "batch"
    told = (Port(PHOTO, "float32", (batch, 4)),)
    if isinstance(model, FasterRCNNFPN | MaskRCNNFPN | KeypointRCNNFPN):
        kept = found_by_regions(g, model.regions, x, outputs, PHOTO, rules_of(model), names)
        if isinstance(model, FasterRCNNFPN):
            return FoundPorts(told, *_boxes(in_photos(g, kept, PHOTO, whole=False, clip=model.clip)))
        ports, values = _boxes(kept)
        if isinstance(model, MaskRCNNFPN):
            side = 2 * model.mask_settings.roi_size
            masks = Port("masks", "float32", ("found", side, side))
            return FoundPorts(told, (*ports, masks), (*values, masks_of(g, model, outputs, kept, names)))
        n = model.point_settings.n_point
        points = Port("points", "float32", ("found", n, 2)), Port("point_scores", "float32", ("found", n))
        return FoundPorts(told, (*ports, *points), (*values, *points_of(g, model, outputs, kept, names)))
    told_size = Port(PHOTO_SIZE, "float32", (batch, 2))
    if isinstance(model, FCISResNet101):
        kept, of_instances = found_by_place(g, model, x, outputs, PHOTO, PHOTO_SIZE, rules_of(model))
        ports, values = _boxes(kept)
        port = Port("masks", "float32", ("found", model.head.roi_size, model.head.roi_size))
        return FoundPorts((*told, told_size), (*ports, port), (*values, of_instances))
    if isinstance(model, AbstractFasterRCNN):
        kept = found_on_one_map(g, model, x, outputs, PHOTO_SIZE, rules_of(model), names)
        return FoundPorts((told_size,), *_boxes(kept))
    if not isinstance(model, AbstractOneStageDetector):
        raise UnsupportedError(f"ONNX: boxes of a {type(model).__name__} are not exported")
    found = candidates(g, model, x, outputs)
    if not found.whole:
        return FoundPorts(told, *_boxes(suppressed(g, found, PHOTO, rules_of(model))))
    corner = g.add("Concat", [numbers(g, [0, 0]), as_pair(g, extent_of(g, x))], {"axis": 0})
    photo = g.add("Unsqueeze", [corner, g.integers(0)])
    return FoundPorts((), *_boxes(suppressed(g, found, photo, rules_of(model))))


def rules_of(model: AbstractThresholds) -> Rules:
    """The model's present thresholds."""
    clip = isinstance(model, AbstractDetector) and model.clip
    return Rules(model.score_thresh, model.nms_thresh, model.limit, clip)


def _boxes(kept: Kept) -> tuple[tuple[Port, ...], tuple[str, ...]]:
    ports = (
        Port("boxes", "float32", ("found", 4)),
        Port("scores", "float32", ("found",)),
        Port("labels", "int64", ("found",)),
        Port("photos", "int64", ("found",)),
    )
    return ports, tuple(kept)
