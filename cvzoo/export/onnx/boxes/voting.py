"""Mask voting: the masks of overlapping regions are merged, as `mask_voting` in cvzoo.links."""

from typing import NamedTuple

from cvzoo.export.onnx.boxes.candidates import columns, numbers
from cvzoo.export.onnx.boxes.extents import counted, scalar
from cvzoo.export.onnx.boxes.nms import Detections
from cvzoo.export.onnx.onnx_graph import OnnxGraph


class Voters(NamedTuple):
    """Names of the values of R regions.

    boxes: (R, 4), pixels of the images; prob: (R, S, S); classes: (R, n_class), background first
    photos: (R,) int64, the index of each box's image
    side: S
    """

    boxes: str
    images: str
    prob: str
    classes: str
    side: int


class Voted(NamedTuple):
    """Names: boxes (K, 4), rounded to pixels of the images; masks (K, S, S); has_mask (K,) bool: if it is not empty."""

    boxes: str
    masks: str
    has_mask: str


def voted(
    g: OnnxGraph, voters: Voters, detections: Detections, index: str, merge_thresh: float, thresh: float
) -> Voted:
    """For each detection the mask that the regions around it vote for, and its bounding box.

    place: (K,) int64, the region's index of each detection
    merge_thresh: regions of at least this IoU vote; thresh: least foreground probability of a mask and of the votes
    """
    pixels = g.add("Round", [voters.boxes])  # already clipped to the image, so that rounding cannot leave it
    likely = g.add("Gather", [voters.classes, g.add("Add", [detections.labels, g.integers(1)])], {"axis": 1})  # (R, K)
    likely = g.add("Transpose", [likely], {"perm": [1, 0]})
    areas = g.add("ReduceProd", [_sides(g, voters.boxes)], {"axes": [1], "keepdims": 0})
    side = g.integers(voters.side)
    cells = g.add("Cast", [counted(g, side)], {"to": 1})  # (S,)

    def one(k: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        at = g.add("Gather", [index, k])
        box, image, area = (g.add("Gather", [each, at]) for each in (voters.boxes, voters.images, areas))
        near = g.add(
            "And", [_overlaps(g, voters.boxes, areas, box, area, merge_thresh), g.add("Equal", [voters.images, image])]
        )
        weight = g.add("Compress", [g.add("Gather", [likely, k]), near], {"axis": 0})
        weight = g.add("Div", [weight, g.add("ReduceSum", [weight], {"keepdims": 1})])
        windows = g.add("Compress", [pixels, near], {"axis": 0})  # (N, 4)
        first = g.add("ReduceMin", [columns(g, windows, 0, 2)], {"axes": [0], "keepdims": 0})
        last = g.add("ReduceMax", [columns(g, windows, 2, 4)], {"axes": [0], "keepdims": 0})
        extent = g.add("Cast", [g.add("Max", [g.add("Sub", [last, first]), numbers(g, 1)])], {"to": 7})
        rows, across = (_places(g, extent, first, axis) for axis in (0, 1))
        probs = g.add("Compress", [voters.prob, near], {"axis": 0})

        def add_vote(n: str, votes: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
            window, prob, share = (g.add("Gather", [each, n]) for each in (windows, probs, weight))
            up, along = (_stretched(g, each, window, axis, side, cells) for axis, each in ((0, rows), (1, across)))
            mask = g.add("MatMul", [g.add("MatMul", [up, prob]), g.add("Transpose", [along], {"perm": [1, 0]})])
            inside = g.add("Where", [g.add("GreaterOrEqual", [mask, numbers(g, thresh)]), share, numbers(g, 0)])
            return (g.add("Add", [votes, inside]),), ()

        n_vote = scalar(g, g.add("Shape", [weight]))
        none = g.add("Expand", [numbers(g, 0), extent])
        (votes,) = g.loop(n_vote, add_vote, carried=[(none, "float32")])
        ends = [_ends(g, g.add("GreaterOrEqual", [votes, numbers(g, thresh)]), axis) for axis in (0, 1)]
        (top, bottom, has_mask), (left, right, _) = ends
        start, stop = g.add("Concat", [top, left], {"axis": 0}), g.add("Concat", [bottom, right], {"axis": 0})
        part = g.add("Slice", [votes, start, stop, g.integers(0, 1)])
        shrunk = [_shrunk(g, part, axis, side, cells) for axis in (0, 1)]
        joined = g.add(
            "MatMul", [g.add("MatMul", [shrunk[0], part]), g.add("Transpose", [shrunk[1]], {"perm": [1, 0]})]
        )
        mask = g.add("Clip", [joined, numbers(g, 0), numbers(g, 1)])
        corners = [g.add("Add", [g.add("Cast", [each], {"to": 1}), first]) for each in (start, stop)]
        return (), (g.add("Concat", corners, {"axis": 0}), mask, has_mask)

    count = scalar(g, g.add("Shape", [index]))
    shapes = ("float32", (4,)), ("float32", (voters.side, voters.side)), ("bool", ())
    return Voted(*g.loop(count, one, scan_outputs=shapes))


def _overlaps(g: OnnxGraph, boxes: str, areas: str, box: str, area: str, thresh: float) -> str:
    """(R,) bool: whether the IoU with the box (4,) is at least thresh."""
    first = g.add("Max", [columns(g, boxes, 0, 2), columns(g, box, 0, 2)])
    last = g.add("Min", [columns(g, boxes, 2, 4), columns(g, box, 2, 4)])
    sides = g.add("Max", [g.add("Sub", [last, first]), numbers(g, 0)])
    both = g.add("ReduceProd", [sides], {"axes": [1], "keepdims": 0})
    either = g.add("Sub", [g.add("Add", [areas, area]), both])
    return g.add("GreaterOrEqual", [g.add("Div", [both, either]), numbers(g, thresh)])


def _sides(g: OnnxGraph, boxes: str) -> str:
    return g.add("Sub", [columns(g, boxes, 2, 4), columns(g, boxes, 0, 2)])


def _places(g: OnnxGraph, extent: str, first: str, axis: int) -> str:
    """(n,) float32: the window's pixels along an axis, in pixels of the image."""
    n = g.add("Gather", [extent, g.integers(axis)])
    return g.add("Add", [g.add("Cast", [counted(g, n)], {"to": 1}), g.add("Gather", [first, g.integers(axis)])])


def _stretched(g: OnnxGraph, pixel: str, window: str, axis: int, side: str, cells: str) -> str:
    """(n, S): each pixel's interpolation weights over the cells of a map resized to a window (4,); 0 outside of it."""
    start, stop = (columns(g, window, k, k + 1) for k in (axis, axis + 2))
    length = g.add("Max", [g.add("Sub", [stop, start]), numbers(g, 1)])
    step = g.add("Div", [g.add("Cast", [side], {"to": 1}), length])
    inside = g.add("And", [g.add("GreaterOrEqual", [pixel, start]), g.add("Less", [pixel, stop])])
    weights = _between(g, g.add("Sub", [pixel, start]), step, side, cells)
    return g.add("Where", [g.add("Unsqueeze", [inside, g.integers(1)]), weights, numbers(g, 0)])


def _shrunk(g: OnnxGraph, part: str, axis: int, side: str, cells: str) -> str:
    """(S, n): each cell's interpolation weights over the part's n rows or columns."""
    n = g.add("Shape", [part], {"start": axis, "end": axis + 1})
    step = g.add("Div", [g.add("Cast", [n], {"to": 1}), g.add("Cast", [side], {"to": 1})])
    return _between(g, cells, step, n, g.add("Cast", [counted(g, n)], {"to": 1}))


def _between(g: OnnxGraph, pixel: str, step: str, n: str, cells: str) -> str:
    """(pixels, n): bilinear interpolation weights, half-pixel centers."""
    half = numbers(g, 0.5)
    index = g.add("Sub", [g.add("Mul", [g.add("Add", [pixel, half]), step]), half])
    last = g.add("Sub", [g.add("Cast", [n], {"to": 1}), numbers(g, 1)])
    index = g.add("Unsqueeze", [g.add("Min", [g.add("Max", [index, numbers(g, 0)]), last]), g.integers(1)])
    distance = g.add("Abs", [g.add("Sub", [index, cells])])
    return g.add("Max", [g.add("Sub", [numbers(g, 1), distance]), numbers(g, 0)])


def _ends(g: OnnxGraph, inside: str, axis: int) -> tuple[str, str, str]:
    """First row or column with a pixel and one past the last, (1,) int64 each; and () bool: whether there is any."""
    some = g.add("ReduceMax", [g.add("Cast", [inside], {"to": 6})], {"axes": [1 - axis], "keepdims": 0})
    first = g.add("ArgMax", [some], {"axis": 0, "keepdims": 1})
    last = g.add("ArgMax", [some], {"axis": 0, "keepdims": 1, "select_last_index": 1})
    any_ = g.add("Cast", [g.add("ReduceMax", [some], {"axes": [0], "keepdims": 0})], {"to": 9})
    return first, g.add("Add", [last, g.integers(1)]), any_
