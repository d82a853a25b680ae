"""The part of a model that is exported, the names of its outputs, and the file's metadata."""

import contextlib
from typing import NamedTuple

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, UnsupportedError
from cvzoo.export.onnx.boxes.faster_rcnn import first_stage
from cvzoo.export.onnx.boxes.fcis import fcis_first_stage
from cvzoo.export.onnx.metadata import model_metadata
from cvzoo.export.onnx.network import Network
from cvzoo.links.chain import Chain
from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.architectures import architecture_of
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.detector import AbstractOneStageDetector
from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPN
from cvzoo.links.model.segmenter import AbstractImageSegmenter, AbstractSegmenter
from cvzoo.links.quantization.quantizable import AbstractQuantizable

_TASKS = {FasterRCNNFPN: "detection", MaskRCNNFPN: "instance segmentation", KeypointRCNNFPN: "keypoints"}
_PHOTO = (480, 640)  # a typical image: fixed-size files are written for its preprocessed size


class Contents(NamedTuple):
    """The part of a model that is exported.

    call: from x (B, C, H, W) float32, preprocessed, the file's outputs
    outputs: names of the outputs of `call`, in order; None: they are numbered
    channels, size: C and (H, W) of a typical image after `prepare`
    metadata: about the model, by name; values that are not text are JSON
    """

    name: str
    call: Network
    outputs: tuple[str, ...] | None
    channels: int
    size: tuple[int, int]
    metadata: dict[str, str]
    constants: dict[str, np.ndarray]


def contents_of(model: Chain) -> Contents:
    """The part of the model that is exported. Raises UnsupportedError for a kind that cannot be exported."""
    if isinstance(model, AbstractQuantizable) and model.quantization_report is not None:
        raise UnsupportedError(
            f"ONNX: a quantized {type(model).__name__} is not exported",
            hint="export the float model, and quantize the file with the runtime's own tools",
        )
    call: Network
    outputs: tuple[str, ...] | None
    if isinstance(model, AbstractClassifier):
        call, outputs, task = model.scores, ("scores",), "classification"
    elif isinstance(model, AbstractOneStageDetector):
        call, outputs, task = model.forward, None, "detection"
    elif isinstance(model, FasterRCNNFPN | MaskRCNNFPN | KeypointRCNNFPN):
        call, outputs, task = _on_pyramid(model), None, _TASKS[type(model)]
    elif isinstance(model, AbstractFasterRCNN):
        call, outputs, task = first_stage(model), None, "detection"
    elif isinstance(model, FCISResNet101):
        call, outputs, task = fcis_first_stage(model), None, "instance segmentation"
    elif isinstance(model, AbstractImageSegmenter):
        call, outputs, task = model.forward, ("scores",), "segmentation"
    elif isinstance(model, AbstractSegmenter):
        call, outputs, task = _first_scores(model), ("scores",), "segmentation"
    else:
        raise UnsupportedError(f"ONNX: a {type(model).__name__} cannot be exported yet")
    image = np.full((3, *_PHOTO), 127.0, np.float32)
    channels, h, w = model.prepare(image).shape
    metadata = model_metadata(model, _architecture_of(model), task)
    return Contents(metadata["architecture"], call, outputs, channels, (h, w), metadata, model.state_arrays())


def _architecture_of(model: Chain) -> Architecture | None:
    """None for a model that no file format describes, which may be exported nevertheless."""
    with contextlib.suppress(DtypeError, UnsupportedError):
        return architecture_of(type(model))
    return None


def _on_pyramid(model: FasterRCNNFPN | MaskRCNNFPN | KeypointRCNNFPN) -> Network:
    """The pyramid's maps, then the offsets of each map, then the objectness of each."""

    def call(x: Variable) -> tuple[Variable, ...]:
        maps = model.forward(x)
        locs, confs = model.regions.rpn(maps)
        return (*maps, *locs, *confs)

    return call


def _first_scores(model: AbstractSegmenter) -> Network:
    return lambda x: model.training_scores(x)[0]
