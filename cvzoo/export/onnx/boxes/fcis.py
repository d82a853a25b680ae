"""FCIS: regions read off by place, twice, and masks on which all regions around an object vote."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import cvzoo.functions as F
from cvzoo.export.onnx.boxes.candidates import columns, numbers
from cvzoo.export.onnx.boxes.cells import Proposed, joined_maps, means_of_pixels, placed_maps, proposed_regions
from cvzoo.export.onnx.boxes.extents import as_pair, extent_of
from cvzoo.export.onnx.boxes.one_map import proposing
from cvzoo.export.onnx.boxes.suppression import Kept, Rules, best_first, cut_at, picked_of_classes
from cvzoo.export.onnx.boxes.two_stage import of_proposals
from cvzoo.export.onnx.boxes.voting import Voters, voted
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101


class Seen(NamedTuple):
    """Of R regions: scores of back- and foreground (R, 2, S, S), offsets (R, 2, 4), scores of classes (R, n_class)."""

    mask: str
    loc: str
    classes: str


def fcis_first_stage(model: FCISResNet101) -> Callable[[Any], Any]:
    """From x: the maps of masks and classes and of offsets, then the region proposal network's (B, S, 4), (B, S, 2)."""

    def call(x: Any) -> tuple[Any, ...]:
        for_rpn, for_head = model.features(x)
        h = F.relu(model.head.conv1(for_head))
        return model.head.cls_seg(h), model.head.ag_loc(h), *proposing(model.rpn, for_rpn)

    return call


def found_by_place(
    g: OnnxGraph, model: FCISResNet101, x: str, outputs: Sequence[str], photo: str, photo_size: str, rules: Rules
) -> tuple[Kept, str]:
    """The instances by descending score, boxes in pixels of x; and (K, S, S) float32, mask probabilities.

    outputs: of `fcis_first_stage`
    photo: (B, 4), extents of the images in x
    photo_size: (B, 2), their sizes
    """
    of_seg, of_loc, loc, score = outputs
    head = model.head
    scale = g.add("Div", [_sides(g, photo, 1), columns(g, photo_size, 1, 2)])  # (B, 1)
    found = proposed_regions(g, model.rpn, extent_of(g, x), extent_of(g, of_seg), loc, score, scale)
    # an empty box that nothing comes of: means of no regions at all are what runtimes stumble over
    empty = numbers(g, [[0, 0, 0, 0]]), g.integers(0)
    found = Proposed(*[g.add("Concat", pair, {"axis": 0}) for pair in zip(found, empty)])
    maps = joined_maps(g, placed_maps(g, of_seg, head.group_size), placed_maps(g, of_loc, head.group_size))

    def look(at: Proposed) -> Seen:
        return _seen(g, means_of_pixels(g, maps, at, head.roi_size, head.spatial_scale), head.n_class, head.roi_size)

    seen = look(found)
    if model.iter2:
        code = g.add("Gather", [seen.loc, g.constant(np.array(1, np.int64))], {"axis": 1})
        moved = of_proposals(g, code, found.boxes, head.loc_normalize_std, head.loc_normalize_mean)
        frame = g.add("Concat", [numbers(g, [0, 0]), as_pair(g, extent_of(g, x))], {"axis": 0})
        again = Proposed(cut_at(g, moved, frame)[0], found.photos)
        seen = Seen(*[g.add("Concat", pair, {"axis": 0}) for pair in zip(seen, look(again))])
        found = Proposed(*[g.add("Concat", pair, {"axis": 0}) for pair in zip(found, again)])
    prob = g.add("Softmax", [seen.mask], {"axis": 1})
    prob = g.add("Gather", [prob, g.constant(np.array(1, np.int64))], {"axis": 1})
    classes = g.add("Softmax", [seen.classes], {"axis": 1})
    # from here on in the images' own pixels: masks are joined there
    sizes = g.add("Gather", [photo_size, found.photos], {"axis": 0})
    scales = g.add("Gather", [scale, found.photos], {"axis": 0})
    frames = g.add("Concat", [g.add("Mul", [sizes, numbers(g, 0)]), sizes], {"axis": 1})
    boxes, large = cut_at(g, g.add("Div", [found.boxes, scales]), frames)
    count = g.add("Shape", [x], {"start": 0, "end": 1})
    kept, place = _suppressed(g, boxes, classes, large, found.photos, count, rules)
    voters = Voters(boxes, found.photos, prob, classes, head.roi_size)
    made = voted(g, voters, kept, place, model.mask_merge_thresh, model.binary_thresh)
    sides = g.add("Sub", [columns(g, made.boxes, 2, 4), columns(g, made.boxes, 0, 2)])
    side = g.add("ReduceMin", [sides], {"axes": [1], "keepdims": 0})
    whole = g.add("And", [made.is_seen, g.add("Greater", [side, numbers(g, model.min_drop_size)])])
    scales = g.add("Gather", [scale, kept.photos], {"axis": 0})
    kept = kept._replace(boxes=g.add("Mul", [made.boxes, scales]))
    *rows, masks = [g.add("Compress", [each, whole], {"axis": 0}) for each in (*kept, made.masks)]
    return Kept(*rows), masks


def _sides(g: OnnxGraph, photo: str, axis: int) -> str:
    return g.add("Sub", [columns(g, photo, 2 + axis, 3 + axis), columns(g, photo, axis, axis + 1)])


def _seen(g: OnnxGraph, cells: str, n_class: int, size: int) -> Seen:
    """What the head makes of the regions' cells (R, 2 * n_class + 8, S, S)."""
    seg = g.add("Slice", [cells, g.integers(0), g.integers(2 * n_class), g.integers(1)])
    loc = g.add("Slice", [cells, g.integers(2 * n_class), g.integers(2 * n_class + 8), g.integers(1)])
    seg = g.add("Reshape", [seg, g.integers(-1, n_class, 2, size, size)])
    either = g.add("ReduceMax", [seg], {"axes": [2], "keepdims": 0})
    classes = g.add("ReduceMean", [either], {"axes": [2, 3], "keepdims": 0})
    likeliest = g.add("ArgMax", [classes], {"axis": 1, "keepdims": 1})  # (R, 1)
    loc = g.add("Reshape", [g.add("ReduceMean", [loc], {"axes": [2, 3], "keepdims": 0}), g.integers(-1, 2, 4)])
    return Seen(g.add("GatherND", [seg, likeliest], {"batch_dims": 1}), loc, classes)


def _suppressed(
    g: OnnxGraph, boxes: str, classes: str, large: str, photos: str, count: str, rules: Rules
) -> tuple[Kept, str]:
    """What stays, best first, and which regions they are (K,) int64."""
    end = g.integers(np.iinfo(np.int64).max)
    scores = g.add("Transpose", [g.add("Slice", [classes, g.integers(1), end, g.integers(1)])], {"perm": [1, 0]})
    n_class = g.add("Shape", [scores], {"start": 0, "end": 1})
    shape = g.add("Concat", [n_class, g.integers(1, 1)], {"axis": 0})
    every = g.add("Expand", [g.add("Unsqueeze", [boxes, g.integers(0)]), shape])  # (L, R, 4)
    scores = g.add("Where", [large, scores, numbers(g, 0)])
    kept, place = picked_of_classes(g, every, scores, photos, count, rules)
    numbered = kept._replace(boxes=g.add("Unsqueeze", [place, g.integers(1)]))
    ordered = best_first(g, numbered, count, rules.limit)
    place = g.add("Squeeze", [ordered.boxes, g.integers(1)])
    return ordered._replace(boxes=g.add("Gather", [boxes, place], {"axis": 0})), place
