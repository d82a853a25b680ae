"""Comparison of an exported file, run by ONNX Runtime, with its model."""

import os
from typing import Any, NamedTuple

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import MissingExtraError, ShapeError, UnsupportedError
from cvzoo.export.onnx.boxes.add_boxes import PHOTO, PHOTO_SIZE
from cvzoo.export.onnx.contents import contents_of
from cvzoo.export.onnx.write import INPUT
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.links.chain import Chain
from cvzoo.links.model.detector import AbstractDetector
from cvzoo.links.model.image_batches import declared_preparation
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter
from cvzoo.links.model.keypoint_detector import AbstractKeypointDetector

Size = tuple[int, int]


def image_extent(model: Chain, size: Size, input_size: Size) -> np.ndarray:
    """(4,) float32, y_min x_min y_max x_max in pixels of the network's input: the image's extent in it.

    size: (H, W) of the image; input_size: of the preprocessed image
    Boxes (box - extent[:2]) * size / (extent[2:] - extent[:2]) are in pixels of the original image. For a model that
    overrides `prepare`, the image is assumed to fill the input.
    """
    preparation = declared_preparation(model)
    y, x, height, width = (0, 0, *input_size) if preparation is None else preparation.part(size)
    return np.array([y, x, y + height, x + width], np.float32)


photo_place = image_extent  # its former name

_SAME_BOX, _SAME_SCORE = 0.99, 1e-4


class Agreement(NamedTuple):
    """Difference between the outputs of two programs.

    difference: the greatest absolute difference; scale: the greatest absolute value
    apart: fraction of values that differ by more than 1e-4 of `scale`; in networks with max unpooling, as SegNet,
        rounding decides which of equal maxima is unpooled
    """

    difference: float
    scale: float
    apart: float


class BoxAgreement(NamedTuple):
    """Number of boxes of the model (ours), of the file (theirs), and of boxes that agree (same).

    Boxes agree if they have the same label, an IoU of at least 0.99 and scores that differ by less than 1e-4.
    """

    ours: int
    theirs: int
    same: int


def compare_with_onnxruntime(file: str | os.PathLike, model: Chain, x: np.ndarray) -> Agreement:
    """Difference between ONNX Runtime's outputs of the file and the model's, for preprocessed x (B, C, H, W) float32.

    file: written by `export_onnx` without boxes
    Raises MissingExtraError if ONNX Runtime is not installed, ShapeError if the shapes of the outputs differ.
    """
    session = _session(file)
    with using_config("train", False), no_backprop_mode():
        outputs = contents_of(model).call(Variable(x))
    ours: tuple[Any, ...] = outputs if isinstance(outputs, tuple) else (outputs,)
    theirs = session.run(None, {INPUT: x})
    shapes = [each.shape for each in ours], [each.shape for each in theirs]
    if shapes[0] != shapes[1]:
        raise ShapeError("the file is of another model, or has boxes", expected=shapes[0], got=shapes[1])
    off = [np.abs(a.array - b).reshape(-1) for a, b in zip(ours, theirs, strict=True)]
    scale = max(float(np.abs(a.array).max(initial=0)) for a in ours)
    apart = np.concatenate(off) > 1e-4 * max(scale, 1)
    return Agreement(max(float(each.max(initial=0)) for each in off), scale, float(apart.mean()))


def compare_boxes_with_onnxruntime(
    file: str | os.PathLike,
    model: AbstractDetector | AbstractInstanceSegmenter | AbstractKeypointDetector,
    img: np.ndarray,
) -> BoxAgreement:
    """Number of boxes that `model.predict` and ONNX Runtime detect in an image, and how many of them agree.

    file: written by `export_onnx` with boxes, with a dynamic size or the preprocessed size of the image
    img: (3, H, W) float32 RGB [0, 255]
    Raises MissingExtraError if ONNX Runtime is not installed, UnsupportedError for a file without boxes, ShapeError
    for an image of a different preprocessed size.
    """
    session = _session(file)
    if "boxes" not in [port.name for port in session.get_outputs()]:
        raise UnsupportedError(f"{file} has no boxes", hint="export_onnx(file, model, boxes=True)")
    x = model.prepare(img)[None]
    input_size = tuple(session.get_inputs()[0].shape[2:])
    if any(isinstance(side, int) and side != actual for side, actual in zip(input_size, x.shape[2:])):
        raise ShapeError("the file is for images of another prepared size", expected=input_size, got=x.shape[2:])
    result = model.predict([img])
    ours, labels, scores = result.bboxes[0], result.labels[0], result.scores[0]
    extent = image_extent(model, img.shape[1:], x.shape[2:])
    if session.get_inputs()[0].shape[0] not in (1, "batch"):
        x = np.repeat(x, session.get_inputs()[0].shape[0], axis=0)
    feeds = {INPUT: x, PHOTO: extent[None], PHOTO_SIZE: np.array([img.shape[1:]], np.float32)}
    feeds = {
        port.name: feeds[port.name].repeat(len(x) // len(feeds[port.name]), axis=0) for port in session.get_inputs()
    }
    theirs, their_scores, their_labels, images = session.run(["boxes", "scores", "labels", "photos"], feeds)
    first = images == 0
    ratio = np.array(img.shape[1:], np.float32) / (extent[2:] - extent[:2])
    boxes = (theirs[first] - np.tile(extent[:2], 2)) * np.tile(ratio, 2)
    same = (bbox_iou(ours, boxes) >= _SAME_BOX) & (labels[:, None] == their_labels[first])
    same &= np.abs(scores[:, None] - their_scores[first]) < _SAME_SCORE
    return BoxAgreement(len(ours), len(boxes), int(min(same.any(axis=0).sum(), same.any(axis=1).sum())))


def _session(file: str | os.PathLike) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("ONNX Runtime is not installed", hint="pip install onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(os.fspath(file), options, providers=["CPUExecutionProvider"])
