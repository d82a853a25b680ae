"""Sizes of feature maps and coordinates of their positions, computed in the graph, so that image sizes stay dynamic."""

from typing import NamedTuple

import numpy as np

from cvzoo.export.onnx.onnx_graph import OnnxGraph


class Extent(NamedTuple):
    """Names of a map's height and width, (1,) int64 each."""

    height: str
    width: str


def extent_of(g: OnnxGraph, x: str) -> Extent:
    """The extent of x (B, C, H, W)."""
    return Extent(*[g.add("Shape", [x], {"start": axis, "end": axis + 1}) for axis in (2, 3)])


def strided(g: OnnxGraph, extent: Extent, by: int) -> Extent:
    """Each side divided by `by`, rounded up."""
    return Extent(*[g.add("Div", [g.add("Add", [each, g.integers(by - 1)]), g.integers(by)]) for each in extent])


def steps(g: OnnxGraph, input_extent: Extent, extent: Extent) -> Extent:
    """Steps between adjacent positions of a map of `extent`, in input pixels, rounded down."""
    return Extent(*[g.add("Div", [a, b]) for a, b in zip(input_extent, extent)])


def as_pair(g: OnnxGraph, extent: Extent) -> str:
    """(2,) float32: height and width."""
    return g.add("Cast", [g.add("Concat", list(extent), {"axis": 0})], {"to": 1})


def n_position(g: OnnxGraph, extent: Extent, each: int = 1) -> str:
    """(1,) int64: number of positions of a map, times `each`."""
    n = g.add("Mul", list(extent))
    return n if each == 1 else g.add("Mul", [n, g.integers(each)])


def positions(g: OnnxGraph, extent: Extent) -> str:
    """(H * W, 2) int64: row and column of each position, row by row."""
    index = counted(g, n_position(g, extent))
    row = g.add("Div", [index, extent.width])
    column = g.add("Sub", [index, g.add("Mul", [row, extent.width])])
    return g.add("Concat", [g.add("Unsqueeze", [each, g.integers(1)]) for each in (row, column)], {"axis": 1})


def corners(g: OnnxGraph, extent: Extent, step: Extent) -> str:
    """(H * W, 2) float32: y and x of each position in input pixels, the first at 0."""
    step_yx = g.add("Concat", list(step), {"axis": 0})
    return g.add("Cast", [g.add("Mul", [positions(g, extent), step_yx])], {"to": 1})


def anchors_at(g: OnnxGraph, extent: Extent, step: Extent, cell: np.ndarray) -> str:
    """(H * W * K, 4) float32, as `grid_anchors` in cvzoo.geometry: the anchors (K, 4) shifted to every position."""
    corner = corners(g, extent, step)
    corner = g.add("Unsqueeze", [g.add("Concat", [corner, corner], {"axis": 1}), g.integers(1)])  # (H * W, 1, 4)
    moved = g.add("Add", [corner, g.constant(np.asarray(cell, np.float32))])
    return g.add("Reshape", [moved, g.integers(-1, 4)])


def fixed_step(g: OnnxGraph, step: int) -> Extent:
    """The same number of pixels along both axes."""
    return Extent(g.integers(step), g.integers(step))


def counted(g: OnnxGraph, n: str) -> str:
    """(n,) int64: 0, 1, 2 ...; n is (1,)."""
    zero, one = (g.constant(np.array(value, np.int64)) for value in (0, 1))
    return g.add("Range", [zero, scalar(g, n), one])


def scalar(g: OnnxGraph, x: str) -> str:
    """A value of shape (1,), reshaped to ()."""
    return g.add("Squeeze", [x, g.integers(0)])


def at_most(g: OnnxGraph, count: str, n: int) -> str:
    """(1,) int64: min(count, n)."""
    return g.add("Min", [count, g.integers(n)])
