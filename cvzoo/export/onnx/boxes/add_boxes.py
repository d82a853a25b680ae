"""A detector's boxes as outputs of its file."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.export.onnx.boxes.one_stage import candidates
from cvzoo.export.onnx.boxes.suppression import suppressed
from cvzoo.export.onnx.boxes.two_stage import found_by_regions
from cvzoo.export.onnx.model_proto import Port
from cvzoo.export.onnx.onnx_graph import OnnxGraph, Shape
from cvzoo.links.chain import Chain
from cvzoo.links.model.detector import AbstractOneStageDetector
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN

BOX_PORTS = (
    Port("boxes", "float32", ("found", 4)),
    Port("scores", "float32", ("found",)),
    Port("labels", "int64", ("found",)),
    Port("photos", "int64", ("found",)),
)
PHOTO = "photo"


def add_boxes(
    g: OnnxGraph, model: Chain, outputs: Sequence[str], x_shape: Shape, names: Mapping[str, np.ndarray]
) -> tuple[list[Port], Sequence[str]]:
    """The further inputs that the file has, and the names of its boxes, scores, labels and numbers of photos.

    outputs: what the network gives, in the graph; names: its parameters
    Raises UnsupportedError for a model that has no boxes, or none that can be exported.
    """
    batch, size = x_shape[0], (x_shape[2][0], x_shape[3][0])
    told = [Port(PHOTO, "float32", ("batch" if len(set(batch)) > 1 else batch[0], 4))]
    if isinstance(model, FasterRCNNFPN):
        return told, found_by_regions(g, model, outputs, PHOTO, size, names)
    if not isinstance(model, AbstractOneStageDetector):
        raise UnsupportedError(f"ONNX: boxes of a {type(model).__name__} are not exported")
    found = candidates(g, model, outputs, size)
    kept = suppressed(
        g,
        found,
        g.constant(np.array([[0, 0, *size]], np.float32)) if found.whole else PHOTO,
        score_thresh=model.score_thresh,
        nms_thresh=model.nms_thresh,
        limit=model.limit,
        clip=model.clip,
    )
    return [] if found.whole else told, kept
