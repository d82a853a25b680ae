"""Candidate boxes before non-maximum suppression, in an ONNX graph."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.export.onnx.boxes.extents import at_most
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.geometry.coding import SIZE_CLAMP
from cvzoo.typing.aliases import ArrayLike


class Candidates(NamedTuple):
    """Names of values in the graph.

    boxes: (B, A, 4) y_min x_min y_max x_max, pixels of the network's input
    probs: (B, L, A) scores
    clip_before_nms: whether boxes are clipped to the image before non-maximum suppression
    fills_input: whether the image fills the network's input; else its extent is a further input of the file
    """

    boxes: str
    probs: str
    clip_before_nms: bool
    fills_input: bool


def columns(g: OnnxGraph, x: str, start: int, end: int) -> str:
    """x[..., start:end]."""
    return g.add("Slice", [x, g.integers(start), g.integers(end), g.integers(-1)])


def numbers(g: OnnxGraph, values: ArrayLike) -> str:
    """A float32 constant."""
    return g.constant(np.asarray(values, np.float32))


def around(g: OnnxGraph, centre: str, side: str) -> str:
    """Boxes (..., 4) from centers (..., 2) and sizes (..., 2), y before x."""
    half = g.add("Mul", [side, numbers(g, 0.5)])
    return g.add("Concat", [g.add("Sub", [centre, half]), g.add("Add", [centre, half])], {"axis": -1})


def of_anchors(g: OnnxGraph, code: str, anchor: str, std: Sequence[float]) -> str:
    """Boxes (..., 4) from offsets (..., 4) to anchors (A, 4), as `decode_bbox` in cvzoo.geometry."""
    first = columns(g, anchor, 0, 2)
    size = g.add("Sub", [columns(g, anchor, 2, 4), first])
    return of_centres(g, code, g.add("Add", [first, g.add("Mul", [size, numbers(g, 0.5)])]), size, std)


def of_centres(
    g: OnnxGraph, code: str, centre: str, size: str, std: Sequence[float], mean: Sequence[float] = (0, 0, 0, 0)
) -> str:
    """As `of_anchors`, with the anchors given as centers and sizes, (A, 2) each."""
    if tuple(std) != (1, 1, 1, 1):
        code = g.add("Mul", [code, numbers(g, std)])
    if any(mean):
        code = g.add("Add", [code, numbers(g, mean)])
    centre = g.add("Add", [g.add("Mul", [columns(g, code, 0, 2), size]), centre])
    growth = g.add("Exp", [g.add("Min", [columns(g, code, 2, 4), numbers(g, SIZE_CLAMP)])])
    return around(g, centre, g.add("Mul", [growth, size]))


def best(g: OnnxGraph, probs: str, n: str) -> str:
    """probs (..., N) where they are among the n (1,) highest along the last axis, else 0."""
    values, _ = g.add_many("TopK", [probs, n], 2, {"axis": -1})
    least = columns(g, values, -1, np.iinfo(np.int64).max)
    return g.add("Where", [g.add("GreaterOrEqual", [probs, least]), probs, numbers(g, 0)])


def best_of_levels(g: OnnxGraph, probs: str, counts: Sequence[str], n_class: int, n: int) -> str:
    """(B, L, A) from probs (B, A, L): only the n highest (anchor, class) scores of each level stay, the others are 0.

    counts: (1,) int64, number of anchors of each level
    """
    parts = []
    ends = g.add("CumSum", [g.add("Concat", list(counts), {"axis": 0}), g.constant(np.array(0, np.int64))])
    for level, count in enumerate(counts):
        end = g.add("Gather", [ends, g.integers(level)])
        part = g.add("Slice", [probs, g.add("Sub", [end, count]), end, g.integers(1)])
        part = g.add("Reshape", [part, g.integers(0, -1)])
        part = best(g, part, at_most(g, g.add("Mul", [count, g.integers(n_class)]), n))
        parts.append(g.add("Reshape", [part, g.integers(0, -1, n_class)]))
    return g.add("Transpose", [g.add("Concat", parts, {"axis": 1})], {"perm": [0, 2, 1]})
