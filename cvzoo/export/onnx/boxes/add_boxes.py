"""A detector's boxes as outputs of its file."""

from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.export.onnx.boxes.one_stage import candidates
from cvzoo.export.onnx.boxes.suppression import suppressed
from cvzoo.export.onnx.model_proto import Port
from cvzoo.export.onnx.onnx_graph import OnnxGraph, Shape
from cvzoo.links.chain import Chain
from cvzoo.links.model.detector import AbstractOneStageDetector

BOX_PORTS = (
    Port("boxes", "float32", ("found", 4)),
    Port("scores", "float32", ("found",)),
    Port("labels", "int64", ("found",)),
    Port("photos", "int64", ("found",)),
)
PHOTO = "photo"


def add_boxes(g: OnnxGraph, model: Chain, outputs: Sequence[str], x_shape: Shape) -> tuple[list[Port], Sequence[str]]:
    """The further inputs that the file has, and the names of its boxes, scores, labels and numbers of photos.

    Raises UnsupportedError for a model that has no boxes, or none that can be exported.
    """
    if not isinstance(model, AbstractOneStageDetector):
        raise UnsupportedError(f"ONNX: boxes of a {type(model).__name__} are not exported")
    batch, size = x_shape[0], (x_shape[2][0], x_shape[3][0])
    found = candidates(g, model, outputs, size)
    if found.whole:
        photo = g.constant(np.array([[0, 0, *size]], np.float32))
        inputs = []
    else:
        photo = PHOTO
        inputs = [Port(PHOTO, "float32", ("batch" if len(set(batch)) > 1 else batch[0], 4))]
    kept = suppressed(
        g,
        found,
        photo,
        score_thresh=model.score_thresh,
        nms_thresh=model.nms_thresh,
        limit=model.limit,
        clip=model.clip,
    )
    return inputs, kept
