"""From boxes that overlap to those that stay, image by image, best first."""

from typing import NamedTuple

import numpy as np

from cvzoo.export.onnx.boxes.candidates import Candidates, columns, numbers
from cvzoo.export.onnx.boxes.extents import counted
from cvzoo.export.onnx.onnx_graph import OnnxGraph


class Kept(NamedTuple):
    """Names of values, a row a box.

    boxes (K, 4) y_min x_min y_max x_max, pixels of the network's input; scores (K,); labels (K,) int64; images (K,)
    int64, which of the batch it is in
    """

    boxes: str
    scores: str
    labels: str
    photos: str


class Rules(NamedTuple):
    """What stays: above score_thresh, no IoU above nms_thresh with a better one of its class, at most `limit`."""

    score_thresh: float
    nms_thresh: float
    limit: int | None
    clip: bool = False


def suppressed(g: OnnxGraph, found: Candidates, photo: str, rules: Rules) -> Kept:
    """What stays of the candidates by the rules of `AbstractDetector.predict`, in its order.

    photo: (B, 4) or (1, 4), where in the network's input the image lies
    """
    boxes, probs = found.boxes, found.probs
    if found.cut:
        boxes, _ = cut_at(g, boxes, g.add("Unsqueeze", [photo, g.integers(1)]))
    picked = picked_by_nms(g, boxes, probs, rules.score_thresh, rules.nms_thresh)
    rows = g.add("GatherND", [boxes, g.add("Gather", [picked, g.integers(0, 2)], {"axis": 1})])
    kept = Kept(rows, g.add("GatherND", [probs, picked]), column(g, picked, 1), column(g, picked, 0))
    count = g.add("Shape", [boxes], {"start": 0, "end": 1})
    return in_photos(g, best_first(g, kept, count, rules.limit), photo, whole=found.whole, clip=rules.clip)


def picked_by_nms(
    g: OnnxGraph, boxes: str, probs: str, score_thresh: float, nms_thresh: float, *, limit: int | None = None
) -> str:
    """(K, 3) int64: image, class and place of what stays, for boxes (B, A, 4) and probs (B, L, A).

    limit: how many of each image and class stay at most
    """
    most = g.integers(np.iinfo(np.int32).max if limit is None else limit)
    # a threshold of 0 would let through what was set to 0
    thresholds = [numbers(g, [nms_thresh]), numbers(g, [max(score_thresh, 1e-30)])]
    return g.add("NonMaxSuppression", [boxes, probs, most, *thresholds])


def picked_of_classes(g: OnnxGraph, boxes: str, scores: str, photos: str, count: str, rules: Rules) -> tuple[Kept, str]:
    """What stays where each class has boxes of its own, not put in order; and which rows they are (K,) int64.

    boxes: (L, R, 4); scores: (L, R); images: (R,) int64, which of the `count` (1,) images each is in
    """
    # a box is for one class only: each class is what an image is elsewhere, and an image what a class is
    mine = g.add("Equal", [g.add("Unsqueeze", [counted(g, count), g.integers(1)]), photos])  # (B, R)
    probs = g.add("Where", [mine, g.add("Unsqueeze", [scores, g.integers(1)]), numbers(g, 0)])
    picked = picked_by_nms(g, boxes, probs, rules.score_thresh, rules.nms_thresh)
    rows = g.add("GatherND", [boxes, g.add("Gather", [picked, g.integers(0, 2)], {"axis": 1})])
    kept = Kept(rows, g.add("GatherND", [probs, picked]), column(g, picked, 0), column(g, picked, 1))
    return kept, column(g, picked, 2)


def best_first(g: OnnxGraph, kept: Kept, count: str, limit: int | None) -> Kept:
    """By image, then best first, and of an image at most `limit`; `count` (1,) int64 is how many images there are.

    The key is float64, in which an image's number leaves the score's digits alone.
    """
    scores, photos = (g.add("Cast", [each], {"to": 11}) for each in (kept.scores, kept.photos))
    key = g.add("Sub", [scores, g.add("Mul", [photos, g.constant(np.array(2, np.float64))])])
    _, order = g.add_many("TopK", [key, g.add("Shape", [key])], 2, {"axis": 0})
    kept = Kept(*[g.add("Gather", [each, order], {"axis": 0}) for each in kept])
    if limit is None:
        return kept
    return compressed(g, kept, g.add("Less", [_ranks(g, kept.photos, count), g.integers(limit)]))


def in_photos(g: OnnxGraph, kept: Kept, photo: str, *, whole: bool, clip: bool) -> Kept:
    """Those that are not wholly beside their image; with `clip`, cut at its edges."""
    if not whole:
        photo = g.add("Gather", [photo, kept.photos], {"axis": 0})
    boxes, inside = cut_at(g, kept.boxes, photo)
    return compressed(g, kept._replace(boxes=boxes) if clip else kept, inside)


def column(g: OnnxGraph, picked: str, i: int) -> str:
    """picked[:, i]."""
    return g.add("Gather", [picked, g.constant(np.array(i, np.int64))], {"axis": 1})


def cut_at(g: OnnxGraph, boxes: str, photo: str, least_side: float = 0) -> tuple[str, str]:
    """The boxes cut at the image's edges, and whether both sides of what is left of each are large enough.

    least_side: 0: anything above it; else this or more
    """
    first, last = columns(g, photo, 0, 2), columns(g, photo, 2, 4)
    corners = [g.add("Min", [g.add("Max", [columns(g, boxes, *part), first]), last]) for part in ((0, 2), (2, 4))]
    if least_side:
        enough = g.add("GreaterOrEqual", [g.add("Sub", corners[::-1]), numbers(g, least_side)])
    else:
        enough = g.add("Greater", corners[::-1])
    least = g.add("ReduceMin", [g.add("Cast", [enough], {"to": 6})], {"axes": [-1], "keepdims": 0})
    return g.add("Concat", corners, {"axis": -1}), g.add("Cast", [least], {"to": 9})


def compressed(g: OnnxGraph, kept: Kept, condition: str) -> Kept:
    """The rows where the condition (K,) holds."""
    return Kept(*[g.add("Compress", [each, condition], {"axis": 0}) for each in kept])


def _ranks(g: OnnxGraph, photos: str, count: str) -> str:
    """(K,) int64: how many boxes of its image come before each."""
    first = g.constant(np.array(0, np.int64))
    zeros = g.add("Expand", [g.integers(0), count])
    ones = g.add("Expand", [g.integers(1), g.add("Shape", [photos])])
    each = g.add("ScatterElements", [zeros, photos, ones], {"axis": 0, "reduction": "add"})
    before = g.add("CumSum", [each, first], {"exclusive": 1})
    places = g.add("CumSum", [ones, first], {"exclusive": 1})
    return g.add("Sub", [places, g.add("Gather", [before, photos], {"axis": 0})])
