"""Non-maximum suppression of candidate boxes, image by image, by descending score."""

from typing import NamedTuple

import numpy as np

from cvzoo.export.onnx.boxes.candidates import Candidates, columns, numbers
from cvzoo.export.onnx.boxes.extents import counted
from cvzoo.export.onnx.onnx_graph import OnnxGraph


class Detections(NamedTuple):
    """Names of values in the graph, with one row per box.

    boxes: (K, 4) y_min x_min y_max x_max, pixels of the network's input
    scores: (K,)
    labels: (K,) int64
    photos: (K,) int64, the image's index in the batch
    """

    boxes: str
    scores: str
    labels: str
    images: str


class Rules(NamedTuple):
    """Thresholds: scores above score_thresh, non-maximum suppression at IoU nms_thresh, at most `limit` boxes."""

    score_thresh: float
    nms_thresh: float
    limit: int | None
    clip: bool = False


def detections_after_nms(g: OnnxGraph, candidates: Candidates, image: str, rules: Rules) -> Detections:
    """The detections that `AbstractDetector.predict` would return for the candidates, in its order.

    photo: (B, 4) or (1, 4), the image's extent in the network's input
    """
    boxes, probs = candidates.boxes, candidates.probs
    if candidates.clip_before_nms:
        boxes, _ = clipped_at(g, boxes, g.add("Unsqueeze", [image, g.integers(1)]))
    picked = nms_indices(g, boxes, probs, rules.score_thresh, rules.nms_thresh)
    rows = g.add("GatherND", [boxes, g.add("Gather", [picked, g.integers(0, 2)], {"axis": 1})])
    detections = Detections(rows, g.add("GatherND", [probs, picked]), column(g, picked, 1), column(g, picked, 0))
    count = g.add("Shape", [boxes], {"start": 0, "end": 1})
    return inside_images(
        g,
        sorted_by_score(g, detections, count, rules.limit),
        image,
        fills_input=candidates.fills_input,
        clip=rules.clip,
    )


def nms_indices(
    g: OnnxGraph, boxes: str, probs: str, score_thresh: float, nms_thresh: float, *, limit: int | None = None
) -> str:
    """(K, 3) int64: image, class and index of each selected box, for boxes (B, A, 4) and probs (B, L, A).

    limit: the most boxes per image and class
    """
    most = g.integers(np.iinfo(np.int32).max if limit is None else limit)
    # a threshold of 0 would select boxes whose scores were set to 0 to exclude them
    thresholds = [numbers(g, [nms_thresh]), numbers(g, [max(score_thresh, 1e-30)])]
    return g.add("NonMaxSuppression", [boxes, probs, most, *thresholds])


def nms_per_class(
    g: OnnxGraph, boxes: str, scores: str, images: str, count: str, rules: Rules
) -> tuple[Detections, str]:
    """The detections where each class has boxes of its own, unsorted; and their row indices (K,) int64.

    boxes: (L, R, 4)
    scores: (L, R)
    photos: (R,) int64, the index of each box's image
    count: (1,) int64, number of images
    """
    # NonMaxSuppression shares boxes between classes but not between batch entries: with classes as its batch axis
    # and images as its class axis, each class has its own boxes
    in_image = g.add("Equal", [g.add("Unsqueeze", [counted(g, count), g.integers(1)]), images])  # (B, R)
    probs = g.add("Where", [in_image, g.add("Unsqueeze", [scores, g.integers(1)]), numbers(g, 0)])
    picked = nms_indices(g, boxes, probs, rules.score_thresh, rules.nms_thresh)
    rows = g.add("GatherND", [boxes, g.add("Gather", [picked, g.integers(0, 2)], {"axis": 1})])
    detections = Detections(rows, g.add("GatherND", [probs, picked]), column(g, picked, 0), column(g, picked, 1))
    return detections, column(g, picked, 2)


def sorted_by_score(g: OnnxGraph, detections: Detections, count: str, limit: int | None) -> Detections:
    """Sorted by image, then by descending score, at most `limit` per image; count: (1,) int64, number of images."""
    # in float64 the key `score - 2 * image` keeps all digits of a float32 score
    scores, images = (g.add("Cast", [each], {"to": 11}) for each in (detections.scores, detections.images))
    key = g.add("Sub", [scores, g.add("Mul", [images, g.constant(np.array(2, np.float64))])])
    _, order = g.add_many("TopK", [key, g.add("Shape", [key])], 2, {"axis": 0})
    detections = Detections(*[g.add("Gather", [each, order], {"axis": 0}) for each in detections])
    if limit is None:
        return detections
    return selected(g, detections, g.add("Less", [_ranks(g, detections.images, count), g.integers(limit)]))


def inside_images(g: OnnxGraph, detections: Detections, image: str, *, fills_input: bool, clip: bool) -> Detections:
    """The detections that overlap their image; with `clip`, clipped to it."""
    if not fills_input:
        image = g.add("Gather", [image, detections.images], {"axis": 0})
    boxes, inside = clipped_at(g, detections.boxes, image)
    return selected(g, detections._replace(boxes=boxes) if clip else detections, inside)


def column(g: OnnxGraph, picked: str, i: int) -> str:
    """picked[:, i]."""
    return g.add("Gather", [picked, g.constant(np.array(i, np.int64))], {"axis": 1})


def clipped_at(g: OnnxGraph, boxes: str, image: str, least_side: float = 0) -> tuple[str, str]:
    """The boxes clipped to the image, and whether both sides of each clipped box are large enough.

    least_side: the least side; 0: any side above 0
    """
    first, last = columns(g, image, 0, 2), columns(g, image, 2, 4)
    corners = [g.add("Min", [g.add("Max", [columns(g, boxes, *part), first]), last]) for part in ((0, 2), (2, 4))]
    if least_side:
        enough = g.add("GreaterOrEqual", [g.add("Sub", corners[::-1]), numbers(g, least_side)])
    else:
        enough = g.add("Greater", corners[::-1])
    least = g.add("ReduceMin", [g.add("Cast", [enough], {"to": 6})], {"axes": [-1], "keepdims": 0})
    return g.add("Concat", corners, {"axis": -1}), g.add("Cast", [least], {"to": 9})


def selected(g: OnnxGraph, detections: Detections, condition: str) -> Detections:
    """The rows where the condition (K,) holds."""
    return Detections(*[g.add("Compress", [each, condition], {"axis": 0}) for each in detections])


def _ranks(g: OnnxGraph, images: str, count: str) -> str:
    """(K,) int64: each box's rank in its image."""
    first = g.constant(np.array(0, np.int64))
    zeros = g.add("Expand", [g.integers(0), count])
    ones = g.add("Expand", [g.integers(1), g.add("Shape", [images])])
    each = g.add("ScatterElements", [zeros, images, ones], {"axis": 0, "reduction": "add"})
    before = g.add("CumSum", [each, first], {"exclusive": 1})
    positions = g.add("CumSum", [ones, first], {"exclusive": 1})
    return g.add("Sub", [positions, g.add("Gather", [before, images], {"axis": 0})])
