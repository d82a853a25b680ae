"""From boxes that overlap to those that stay, photo by photo, best first."""

from typing import NamedTuple

import numpy as np

from cvzoo.export.onnx.boxes.candidates import Candidates, columns, numbers
from cvzoo.export.onnx.onnx_graph import OnnxGraph


class Kept(NamedTuple):
    """Names of values, a row a box.

    boxes (K, 4) y_min x_min y_max x_max, pixels of the network's input; scores (K,); labels (K,) int64; photos (K,)
    int64, which of the batch it is in
    """

    boxes: str
    scores: str
    labels: str
    photos: str


def suppressed(
    g: OnnxGraph,
    found: Candidates,
    photo: str,
    *,
    score_thresh: float,
    nms_thresh: float,
    limit: int | None,
    clip: bool,
) -> Kept:
    """What stays of the candidates by the rules of `AbstractDetector.predict`, in its order.

    photo: (B, 4) or (1, 4), where in the network's input the photo lies
    """
    boxes, probs = found.boxes, found.probs
    if found.cut:
        boxes, inside = _inside(g, boxes, g.add("Unsqueeze", [photo, g.integers(1)]))
        # what lies in the padding must not count against the limit
        probs = g.add("Where", [g.add("Unsqueeze", [inside, g.integers(1)]), probs, numbers(g, 0)])
    most = g.integers(np.iinfo(np.int32).max)
    # a threshold of 0 would let through what was set to 0
    thresholds = [numbers(g, [nms_thresh]), numbers(g, [max(score_thresh, 1e-30)])]
    picked = g.add("NonMaxSuppression", [boxes, probs, most, *thresholds])
    kept = Kept(
        g.add("GatherND", [boxes, g.add("Gather", [picked, g.integers(0, 2)], {"axis": 1})]),
        g.add("GatherND", [probs, picked]),
        _column(g, picked, 1),
        _column(g, picked, 0),
    )
    kept = _sorted(g, kept)
    if limit is not None:
        kept = _compressed(g, kept, g.add("Less", [_ranks(g, kept.photos, boxes), g.integers(limit)]))
    if not found.whole:
        photo = g.add("Gather", [photo, kept.photos], {"axis": 0})
    cut, inside = _inside(g, kept.boxes, photo)
    return _compressed(g, kept._replace(boxes=cut) if clip else kept, inside)


def _column(g: OnnxGraph, picked: str, i: int) -> str:
    return g.add("Gather", [picked, g.constant(np.array(i, np.int64))], {"axis": 1})


def _inside(g: OnnxGraph, boxes: str, photo: str) -> tuple[str, str]:
    """The boxes cut at the photo's edges, and whether anything is left of each."""
    first, last = columns(g, photo, 0, 2), columns(g, photo, 2, 4)
    corners = [g.add("Min", [g.add("Max", [columns(g, boxes, *part), first]), last]) for part in ((0, 2), (2, 4))]
    larger = g.add(
        "Cast",
        [
            g.add("Greater", corners[::-1]),
        ],
        {"to": 6},
    )
    least = g.add("ReduceMin", [larger], {"axes": [-1], "keepdims": 0})
    return g.add("Concat", corners, {"axis": -1}), g.add("Cast", [least], {"to": 9})


def _sorted(g: OnnxGraph, kept: Kept) -> Kept:
    """By photo, then best first; in float64, in which a photo's number leaves the score's digits alone."""
    scores, photos = (g.add("Cast", [each], {"to": 11}) for each in (kept.scores, kept.photos))
    two = g.constant(np.array(2, np.float64))
    key = g.add("Sub", [scores, g.add("Mul", [photos, two])])
    _, order = g.add_many("TopK", [key, g.add("Shape", [key])], 2, {"axis": 0})
    return Kept(*[g.add("Gather", [each, order], {"axis": 0}) for each in kept])


def _ranks(g: OnnxGraph, photos: str, boxes: str) -> str:
    """(K,) int64: how many boxes of its photo come before each."""
    count = g.add("Shape", [boxes], {"start": 0, "end": 1})
    zeros = g.add("Expand", [g.integers(0), count])
    ones = g.add("Expand", [g.integers(1), g.add("Shape", [photos])])
    each = g.add("ScatterElements", [zeros, photos, ones], {"axis": 0, "reduction": "add"})
    before = g.add("CumSum", [each, g.constant(np.array(0, np.int64))], {"exclusive": 1})
    places = g.add("CumSum", [ones, g.constant(np.array(0, np.int64))], {"exclusive": 1})
    return g.add("Sub", [places, g.add("Gather", [before, photos], {"axis": 0})])


def _compressed(g: OnnxGraph, kept: Kept, condition: str) -> Kept:
    return Kept(*[g.add("Compress", [each, condition], {"axis": 0}) for each in kept])
