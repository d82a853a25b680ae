"""Rasterization of polygons into run-length encoded masks, pixel for pixel as pycocotools."""

import itertools
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from cvzoo.backends.native.records import vertices_of_texts
from cvzoo.backends.native.runs import drawn_natively
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.rle_merge import changes_to_rles, merge_rles
from cvzoo.typing.aliases import Array, ArrayLike

Polygon: TypeAlias = Sequence[float] | Array  # x0, y0, x1, y1, ..., pixels

_SCALE = 5  # vertices are rounded to a grid this many times finer than the pixels
_LIMIT = 1e8  # beyond it, coordinates on the fine grid would not fit into int32


def polygons_to_rle(polygons: Sequence[Sequence[Polygon]], sizes: ArrayLike) -> RLEs:
    """One mask per object, the union of its polygons.

    polygons: R lists of polygons; a polygon is a flat sequence x0, y0, x1, y1, ... of three points or more, pixels
    sizes: (R, 2) int, (H, W) of the images, or one pair for all
    Returns RLEs of R masks, clipped to the image. The mask of a polygon smaller than a pixel may be empty.
    Raises ShapeError with the object's index if it has no polygon or a polygon is not a flat list of three points or
    more, ValueRangeError if a coordinate is NaN, infinite or beyond 1e8.

    Source: pycocotools' maskApi (rleFrPoly), in double precision without fused operations. Vertices are rounded to a
    grid five times finer; each edge is a line of grid points, with one point per step along its longer axis; where the
    line crosses the center of a pixel column, foreground and background swap in the column from there on. We compute
    these crossings directly instead of stepping along the edges.
    """
    sizes = np.broadcast_to(np.asarray(sizes, np.int64), (len(polygons), 2))
    n_ring = [len(rings) for rings in polygons]
    if 0 in n_ring:
        raise ShapeError(f"object {n_ring.index(0)} has no polygon")
    owner = np.repeat(np.arange(len(polygons)), n_ring)
    if not len(owner):
        return RLEs(np.empty(0, np.int32), np.zeros(1, np.int64), np.empty((0, 2), np.int32))
    length, xy = _vertices(list(itertools.chain.from_iterable(polygons)), owner)
    if not (np.abs(xy) <= _LIMIT).all():
        bad = np.flatnonzero(~(np.abs(xy) <= _LIMIT).all(axis=1))[0]
        r = int(owner[np.searchsorted(np.cumsum(length), bad, side="right")])
        raise ValueRangeError(
            f"object {r} has a vertex out of range", expected="|x|, |y| <= 1e8", got=tuple(xy[bad].tolist())
        )
    x, y = np.ascontiguousarray(np.trunc(_SCALE * xy.T + 0.5), np.int32)
    return _masks(x, y, length, owner, sizes)


def polygons_of_text(text: Array, spans: Array, sizes: Array) -> RLEs | None:
    """One mask per object, as `polygons_to_rle`, from lists of polygons that a JSON text has.

    text: (N,) uint8; spans: (R, 2) int64, begin and end of each object's list; sizes: (R, 2) int64, (H, W)
    Returns None if our own kernels are not there or cannot read a list: `polygons_to_rle` has the errors.
    """
    vertices = vertices_of_texts(text, spans, limit=_LIMIT)
    return None if vertices is None else _masks(*vertices, sizes)


def _masks(x: Array, y: Array, length: Array, owner: Array, sizes: Array) -> RLEs:
    """The masks of objects. owner: (P,) int64, ascending, the object of each ring; sizes: (R, 2) int64."""
    drawn = drawn_natively(x, y, length, sizes[owner])
    rles = RLEs(*drawn, sizes[owner]) if drawn is not None else _drawn(x, y, length, sizes[owner])
    return rles if len(length) == len(sizes) else merge_rles(rles, group=owner)


def _drawn(x: Array, y: Array, length: Array, sizes: Array) -> RLEs:
    """The masks of P rings with these numbers of vertices, which are on the fine grid; sizes: (P, 2) int64."""
    follower = np.arange(1, len(x) + 1)
    last = np.cumsum(length) - 1
    follower[last] = last - length + 1
    part = np.repeat(np.arange(len(length)), length)
    height, width = sizes.astype(np.int32)[part].T
    position, edge = _crossings(x, y, x[follower], y[follower], height, width)
    return changes_to_rles(position, part[edge], sizes)


def _vertices(rings: Sequence[Polygon], owner: Array) -> tuple[Array, Array]:
    """The number of points of each ring, (P,) int64, and the points of all rings, (N, 2) float64."""
    if all(type(ring) is list and len(ring) >= 6 and len(ring) % 2 == 0 for ring in rings):
        length = np.array([len(ring) for ring in rings]) // 2
        try:  # one pass over all lists, without an array for each
            return length, np.fromiter(itertools.chain.from_iterable(rings), np.float64).reshape(-1, 2)
        except (TypeError, ValueError, OverflowError):
            pass  # the loop below finds the object for the error message
    parts = [_points(ring, r) for ring, r in zip(rings, owner.tolist())]
    return np.array([len(part) for part in parts]), np.concatenate(parts)


def _points(ring: Polygon, r: int) -> Array:
    try:
        points = np.asarray(ring, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(f"object {r} has a polygon that is not a list of numbers", got=ring) from error
    if points.ndim != 1 or len(points) % 2 or len(points) < 6:
        raise ShapeError(
            f"object {r} has a polygon that is not a flat list x, y of three points or more", got=points.shape
        )
    return points.reshape(-1, 2)


def _crossings(x: Array, y: Array, x_to: Array, y_to: Array, height: Array, width: Array) -> tuple[Array, Array]:
    """The positions x * H + y where edges cross column centers, and the index of each one's edge.

    x, y, x_to, y_to: (E,) int32, start and end on the fine grid; height, width: (E,) int32, of the mask of each edge
    """
    # steps go in the positive direction of the longer axis, whatever the direction of the edge
    wide = np.abs(x_to - x) >= np.abs(y_to - y)
    swap = np.where(wide, x > x_to, y > y_to)
    (x, x_to), (y, y_to) = ((np.where(swap, b, a), np.where(swap, a, b)) for a, b in ((x, x_to), (y, y_to)))
    dx, dy = x_to - x, y_to - y
    long = np.where(wide, dx, dy)
    slope = np.where(wide, dy, dx) / np.maximum(long, 1)
    # the columns whose center, between 5 x + 2 and 5 x + 3 on the grid, the edge crosses
    first = np.maximum(-(-(np.minimum(x, x_to) - _SCALE // 2) // _SCALE), 0)
    n = np.maximum(np.minimum((np.maximum(x, x_to) - _SCALE // 2 - 1) // _SCALE, width - 1) + 1 - first, 0)
    edges, columns, rows = [], [], []
    for along_x in (True, False):
        edge, column = _each_column(np.flatnonzero(wide == along_x), first, n)
        center = _SCALE * column + _SCALE // 2
        tilt = slope[edge]
        if along_x:  # the crossing is between the two points next to the center: take the upper one
            center -= x[edge]
            center += tilt < 0
            rows.append(_rounded(y[edge], tilt, center))
        else:  # between the last point on one side and the first one on the other
            rows.append(y[edge] + _steps_before(x[edge], tilt, center, long[edge]))
        edges.append(edge)
        columns.append(column)
    edge, column, row = np.concatenate(edges), np.concatenate(columns), np.concatenate(rows)
    height = height[edge]
    row = np.ceil(np.clip((row + 0.5) / _SCALE - 0.5, 0, height)).astype(np.int32)
    return column * height + row, edge


def _each_column(edges: Array, first: Array, n: Array) -> tuple[Array, Array]:
    """Every pair of one of the edges and one of the n[edge] columns that follow first[edge]: two arrays, int32."""
    n, first = n[edges], first[edges]
    edge = np.repeat(edges, n)
    return edge, np.arange(len(edge), dtype=np.int32) + np.repeat(first - (np.cumsum(n, dtype=np.int32) - n), n)


def _rounded(base: Array, slope: Array, step: Array) -> Array:
    return np.trunc(base + slope * step + 0.5).astype(np.int32)


def _steps_before(x: Array, slope: Array, center: Array, long: Array) -> Array:
    """The number of steps after which the line's x is still on its starting side of the column center.

    A quotient estimates the step up to rounding; the expression that pycocotools evaluates at each step then decides.
    """
    right = np.where(slope > 0, 1, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.nan_to_num(np.floor((center + 0.5 - x) / slope), nan=0, posinf=0, neginf=0)
    step = np.clip(estimate, 0, long).astype(np.int32)
    for way in (1, -1):
        left = np.arange(len(step))
        while len(left):
            # upwards while the next step is on the starting side, downwards while this one is not
            now = step[left]
            ahead = _on_start_side(x[left], slope[left], now + (way > 0), center[left], right[left])
            left = left[(ahead & (now < long[left])) if way > 0 else (~ahead & (now > 0))]
            step[left] += way
    return step


def _on_start_side(x: Array, slope: Array, step: Array, center: Array, right: Array) -> Array:
    past = np.trunc(x + slope * step + 0.5) > center
    return np.where(right > 0, ~past, past)
