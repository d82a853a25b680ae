"""Masks of polygons, pixel for pixel those of COCO's own tool."""

import itertools

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.rle_merge import merge_rles, turns_to_rles

_SCALE = 5  # the grid that vertices are rounded to is so many times finer than the pixels
_LIMIT = 1e8  # beyond it, coordinates on the fine grid would not fit into int32


def polygons_to_rle(polygons, sizes):
    """One mask an object, the union of its polygons.

    polygons: R lists of polygons; a polygon is a flat sequence x0, y0, x1, y1, ... of three points or more, pixels
    sizes: (R, 2) int, (H, W), or one pair for all
    Returns RLEs of R masks. A polygon of under a pixel may have none; what lies outside of the photo is cut off.
    Raises ShapeError with the object's index if it has no polygon or a polygon is no flat list of three points or
    more, ValueRangeError if a coordinate is NaN, infinite or beyond 1e8.

    Source: pycocotools' maskApi (rleFrPoly), in double precision without fused operations. Vertices are rounded to a
    grid five times finer; each edge is a line of grid points, one a step along its longer axis; where the line steps
    over the middle of a column of pixels, everything in the column from there on changes sides. We compute these
    steps alone instead of walking along the edges.
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
        raise ValueRangeError(f"object {r} has a vertex that cannot be", got=tuple(xy[bad].tolist()))
    x, y = np.trunc(_SCALE * xy.T + 0.5).astype(np.int32)
    follower = np.arange(1, len(x) + 1)
    last = np.cumsum(length) - 1
    follower[last] = last - length + 1
    part = np.repeat(np.arange(len(length)), length)
    height, width = sizes.astype(np.int32)[owner][part].T
    place, edge = _turns(x, y, x[follower], y[follower], height, width)
    rles = turns_to_rles(place, part[edge], sizes[owner])
    return rles if len(length) == len(polygons) else merge_rles(rles, group=owner)


def _vertices(rings, owner):
    """How many points each ring has, (P,) int64, and all of them, (N, 2) float64."""
    if all(type(ring) is list and len(ring) >= 6 and len(ring) % 2 == 0 for ring in rings):
        length = np.array([len(ring) for ring in rings]) // 2
        try:  # numbers of one list after another, without an array for each
            return length, np.fromiter(itertools.chain.from_iterable(rings), np.float64).reshape(-1, 2)
        except (TypeError, ValueError, OverflowError):
            pass  # the way that names the object
    parts = [_points(ring, r) for ring, r in zip(rings, owner.tolist())]
    return np.array([len(part) for part in parts]), np.concatenate(parts)


def _points(ring, r):
    try:
        points = np.asarray(ring, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(f"object {r} has a polygon that is no list of numbers", got=ring) from error
    if points.ndim != 1 or len(points) % 2 or len(points) < 6:
        raise ShapeError(
            f"object {r} has a polygon that is no flat list x, y of three points or more", got=points.shape
        )
    return points.reshape(-1, 2)


def _turns(x, y, x_to, y_to, height, width):
    """Where edges change pixels, x * H + y, and the edge that does so.

    x, y, x_to, y_to: (E,) int32, start and end on the fine grid; height, width: (E,) int32, of the mask of each edge
    """
    # the walk goes up the longer axis, whichever way the edge points
    wide = np.abs(x_to - x) >= np.abs(y_to - y)
    swap = np.where(wide, x > x_to, y > y_to)
    (x, x_to), (y, y_to) = ((np.where(swap, b, a), np.where(swap, a, b)) for a, b in ((x, x_to), (y, y_to)))
    dx, dy = x_to - x, y_to - y
    long = np.where(wide, dx, dy)
    slope = np.where(wide, dy, dx) / np.maximum(long, 1)
    # the columns whose middle, between 5 x + 2 and 5 x + 3 on the grid, the edge steps over
    first = np.maximum(-(-(np.minimum(x, x_to) - _SCALE // 2) // _SCALE), 0)
    n = np.maximum(np.minimum((np.maximum(x, x_to) - _SCALE // 2 - 1) // _SCALE, width - 1) + 1 - first, 0)
    edges, columns, rows = [], [], []
    for along_x in (True, False):
        edge, column = _each_column(np.flatnonzero(wide == along_x), first, n)
        middle = _SCALE * column + _SCALE // 2
        tilt = slope[edge]
        if along_x:  # the step is between the two points at the middle's sides: take the upper one
            middle -= x[edge]
            middle += tilt < 0
            rows.append(_rounded(y[edge], tilt, middle))
        else:  # between the last point on one side and the first one on the other
            rows.append(y[edge] + _steps_before(x[edge], tilt, middle, long[edge]))
        edges.append(edge)
        columns.append(column)
    edge, column, row = np.concatenate(edges), np.concatenate(columns), np.concatenate(rows)
    height = height[edge]
    row = np.ceil(np.clip((row + 0.5) / _SCALE - 0.5, 0, height)).astype(np.int32)
    return column * height + row, edge


def _each_column(edges, first, n):
    """Every pair of one of the edges and one of the n[edge] columns that follow first[edge]: two arrays, int32."""
    n, first = n[edges], first[edges]
    edge = np.repeat(edges, n)
    return edge, np.arange(len(edge), dtype=np.int32) + np.repeat(first - (np.cumsum(n, dtype=np.int32) - n), n)


def _rounded(base, slope, step):
    return np.trunc(base + slope * step + 0.5).astype(np.int32)


def _steps_before(x, slope, middle, long):
    """How many steps leave the line's x on the side of the middle that it starts from.

    The quotient finds the step but for rounding; the very expression that the walk uses then decides.
    """
    right = np.where(slope > 0, 1, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        guess = np.nan_to_num(np.floor((middle + 0.5 - x) / slope), nan=0, posinf=0, neginf=0)
    step = np.clip(guess, 0, long).astype(np.int32)
    for way in (1, -1):
        left = np.arange(len(step))
        while len(left):
            # on the starting side after `step` steps (way -1: not so)
            now = step[left]
            ahead = _on_start_side(x[left], slope[left], now + (way > 0), middle[left], right[left])
            left = left[(ahead & (now < long[left])) if way > 0 else (~ahead & (now > 0))]
            step[left] += way
    return step


def _on_start_side(x, slope, step, middle, right):
    past = np.trunc(x + slope * step + 0.5) > middle
    return np.where(right > 0, ~past, past)
