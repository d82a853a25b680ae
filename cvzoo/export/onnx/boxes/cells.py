"""RoI pooling in ONNX: RoI max pooling and position-sensitive RoI pooling."""

from typing import NamedTuple

import numpy as np

from cvzoo.export.onnx.boxes.candidates import columns, numbers, of_anchors
from cvzoo.export.onnx.boxes.extents import Extent, anchors_at, as_pair, at_most, counted, extent_of, fixed_step
from cvzoo.export.onnx.boxes.nms import clipped_at, column, nms_indices
from cvzoo.export.onnx.model_proto import Attribute
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.links.model.faster_rcnn.region_proposal_network import RegionProposalNetwork

_LEAST = -3e38


class Proposed(NamedTuple):
    """Names of values in the graph.

    boxes: (R, 4), pixels of the network's input
    photos: (R,) int64, the index of each box's image
    """

    boxes: str
    images: str


def proposed_regions(
    g: OnnxGraph, rpn: RegionProposalNetwork, input_extent: Extent, grid: Extent, loc: str, score: str, scale: str
) -> Proposed:
    """Region proposals, image by image, by descending score.

    input_extent, grid: of the network's input and of the map; loc: (B, S, 4), score: (B, S, 2)
    scale: (B, 1), input pixels per image pixel
    """
    rules = rpn.proposal_creator
    anchors = anchors_at(g, grid, fixed_step(g, rpn.feat_stride), rpn.anchor_base)
    frame = g.add("Concat", [numbers(g, [0, 0]), as_pair(g, input_extent)], {"axis": 0})
    boxes, _ = clipped_at(g, of_anchors(g, loc, anchors, (1, 1, 1, 1)), frame)
    sides = g.add("Sub", [columns(g, boxes, 2, 4), columns(g, boxes, 0, 2)])
    side = g.add("ReduceMin", [sides], {"axes": [2], "keepdims": 0})  # (B, S)
    least = g.add("Mul", [scale, numbers(g, rules.min_size)])
    large = g.add("And", [g.add("GreaterOrEqual", [side, least]), g.add("Greater", [side, numbers(g, 0)])])
    foreground = g.add("Gather", [score, g.constant(np.array(1, np.int64))], {"axis": 2})
    count = g.add("Shape", [foreground], {"start": 1, "end": 2})
    if rules.n_test_pre_nms > 0:
        count = at_most(g, count, rules.n_test_pre_nms)
    best, index = g.add_many("TopK", [g.add("Where", [large, foreground, numbers(g, _LEAST)]), count], 2, {"axis": 1})
    boxes = g.add("GatherND", [boxes, g.add("Unsqueeze", [index, g.integers(2)])], {"batch_dims": 1})
    # scores are logits of any sign, but NonMaxSuppression's threshold is positive: it gets ranks instead, all above 0
    rank = g.add("Cast", [g.add("Sub", [count, counted(g, count)])], {"to": 1})
    rank = g.add("Where", [g.add("Greater", [best, numbers(g, _LEAST)]), rank, numbers(g, 0)])
    most = rules.n_test_post_nms if rules.n_test_post_nms > 0 else None
    probs = g.add("Unsqueeze", [rank, g.integers(1)])
    picked = nms_indices(g, boxes, probs, 0, rules.nms_thresh, limit=most)
    rows = g.add("GatherND", [boxes, g.add("Gather", [picked, g.integers(0, 2)], {"axis": 1})])
    return Proposed(rows, column(g, picked, 0))


def scale_and_extent(g: OnnxGraph, x: str, photo_size: str) -> tuple[str, str]:
    """(B, 1): pixels of x per image pixel, along the width; and (B, 4): the image's extent in x at that scale.

    photo_size: (B, 2) float32, height and width of the original images
    """
    width = g.add("Cast", [extent_of(g, x).width], {"to": 1})
    scale = g.add("Div", [width, columns(g, photo_size, 1, 2)])
    scaled = g.add("Mul", [photo_size, scale])
    return scale, g.add("Concat", [g.add("Mul", [scaled, numbers(g, 0)]), scaled], {"axis": 1})


class PositionMaps(NamedTuple):
    """Position-sensitive score maps (B * G * G, C, H, W), one per cell of the G x G grid; group: G."""

    maps: str
    group: int


def max_pooled(g: OnnxGraph, x: str, proposed: Proposed, size: int, scale: float) -> str:
    """(R, C, size, size), as `roi_max_pooling_2d`, with inclusive edges."""
    # edges are rounded here, since runtimes differ in how they round halves
    pixels = g.add("Floor", [g.add("Add", [g.add("Mul", [proposed.boxes, numbers(g, scale)]), numbers(g, 0.5)])])
    turned = g.add("Gather", [pixels, g.integers(1, 0, 3, 2)], {"axis": 1})
    images = g.add("Unsqueeze", [g.add("Cast", [proposed.images], {"to": 1}), g.integers(1)])
    rois = g.add("Concat", [images, turned], {"axis": 1})
    return g.add("MaxRoiPool", [x, rois], {"pooled_shape": [size, size], "spatial_scale": 1.0})


def position_maps(g: OnnxGraph, x: str, group: int) -> PositionMaps:
    """The maps (B, C * G * G, H, W) split by grid cell; channel (c * G + gy) * G + gx."""
    channels = g.shape_of(x)[1][0] // group**2
    extent = extent_of(g, x)
    batch = g.add("Shape", [x], {"start": 0, "end": 1})
    shape = g.add("Concat", [batch, g.integers(channels, group**2), *extent], {"axis": 0})
    apart = g.add("Transpose", [g.add("Reshape", [x, shape])], {"perm": [0, 2, 1, 3, 4]})
    return PositionMaps(
        g.add("Reshape", [apart, g.add("Concat", [g.integers(-1, channels), *extent], {"axis": 0})]), group
    )


def concatenated_maps(g: OnnxGraph, a: PositionMaps, b: PositionMaps) -> PositionMaps:
    """The maps of both, concatenated along channels; both of one group."""
    return a._replace(maps=g.add("Concat", [a.maps, b.maps], {"axis": 1}))


def maxima_of_samples(g: OnnxGraph, maps: PositionMaps, proposed: Proposed, size: int, scale: float) -> str:
    """(R, C, size, size), as `ps_roi_max_align_2d` with two samples along each axis, of maps without negative values.

    A sample outside of the map is 0 here and ignored there: the same maximum, as nothing is negative.
    """
    first, last = _ends(g, proposed.boxes, scale)
    length = g.add("Max", [g.add("Sub", [last, first]), numbers(g, 1)])
    cell = g.add("Unsqueeze", [g.add("Div", [length, numbers(g, size)]), g.integers(1)])  # (R, 1, 2)
    start = g.add("Add", [g.add("Unsqueeze", [first, g.integers(1)]), g.add("Mul", [cell, numbers(g, _grid(size))])])
    # "half_pixel" subtracts half a pixel, and unlike "output_half_pixel" does not enlarge regions below one pixel
    start = g.add("Add", [start, numbers(g, 0.5)])
    samples = _aligned(g, maps, proposed, start, g.add("Add", [start, cell]), size, 2, 1)
    return _as_maps(g, g.add("ReduceMax", [samples], {"axes": [2, 3], "keepdims": 0}), size)


def means_of_pixels(g: OnnxGraph, maps: PositionMaps, proposed: Proposed, size: int, scale: float) -> str:
    """(R, C, size, size), as `ps_roi_average_pooling_2d`: every pixel that a cell overlaps has the same weight."""
    # between integer edges, with one sample per pixel, RoiAlign samples exactly the pixels' centers
    first, last = _ends(g, proposed.boxes, scale)
    length = g.add("Max", [g.add("Sub", [last, first]), numbers(g, 0.1)])
    step = g.add("Unsqueeze", [g.add("Div", [length, numbers(g, size)]), g.integers(1)])
    first = g.add("Unsqueeze", [first, g.integers(1)])
    edges = []
    for op, positions in (("Floor", _grid(size)), ("Ceil", _grid(size) + 1)):
        edges.append(g.add(op, [g.add("Add", [g.add("Mul", [step, numbers(g, positions)]), first])]))
    size_of_map = as_pair(g, extent_of(g, maps.maps))
    low, high = (g.add("Min", [g.add("Max", [each, numbers(g, 0)]), size_of_map]) for each in edges)
    means = _aligned(g, maps, proposed, low, high, size, 1, 0)
    return _as_maps(g, g.add("Squeeze", [means, g.integers(2, 3)]), size)


def _grid(size: int) -> np.ndarray:
    """(size * size, 2): row and column of each cell."""
    return np.stack(np.divmod(np.arange(size * size), size), axis=1)


def _ends(g: OnnxGraph, boxes: str, scale: float) -> tuple[str, str]:
    """Top left and bottom right corners, (R, 2) each, pixels of the map."""
    scaled = g.add("Mul", [boxes, numbers(g, scale)])
    return columns(g, scaled, 0, 2), columns(g, scaled, 2, 4)


def _aligned(
    g: OnnxGraph, maps: PositionMaps, proposed: Proposed, low: str, high: str, size: int, n_out: int, sampling: int
) -> str:
    """(R * size * size, C, n_out, n_out): each cell, from low to high (R, size * size, 2), on its map."""
    cells = g.add("Concat", [low, high], {"axis": 2})
    cells = g.add("Gather", [g.add("Reshape", [cells, g.integers(-1, 4)]), g.integers(1, 0, 3, 2)], {"axis": 1})
    place = _grid(size) * maps.group // size
    place = (place[:, 0] * maps.group + place[:, 1]).astype(np.int64)
    of_photo = g.add("Unsqueeze", [g.add("Mul", [proposed.images, g.integers(maps.group**2)]), g.integers(1)])
    index = g.add("Reshape", [g.add("Add", [of_photo, g.constant(place)]), g.integers(-1)])
    attributes: dict[str, Attribute] = {
        "output_height": n_out,
        "output_width": n_out,
        "sampling_ratio": sampling,
        "spatial_scale": 1.0,
        "coordinate_transformation_mode": "half_pixel",
    }
    return g.add("RoiAlign", [maps.maps, cells, index], attributes)


def _as_maps(g: OnnxGraph, cells: str, size: int) -> str:
    """Cells (R * size * size, C) as maps (R, C, size, size)."""
    n = size * size
    channels = g.add("Shape", [cells], {"start": 1, "end": 2})
    shape = g.add("Concat", [g.integers(-1, n), channels], {"axis": 0})
    turned = g.add("Transpose", [g.add("Reshape", [cells, shape])], {"perm": [0, 2, 1]})
    return g.add("Reshape", [turned, g.integers(0, 0, size, size)])
