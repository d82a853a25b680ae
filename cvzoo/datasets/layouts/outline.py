"""Joins several polygons to a single one, as YOLO's segment format needs it, and splits it again.

The polygon goes around the first ring, and for each other ring from the first point to it, around it and back the same
way: bridges of zero area, which do not change the filled pixels.
"""

from collections.abc import Sequence

Polygon = tuple[float, ...]


def join_polygons(polygons: Sequence[Polygon]) -> Polygon:
    """One polygon x0, y0, x1, y1 ... that covers the same area. A single one is not changed."""
    if len(polygons) == 1:
        return tuple(polygons[0])
    rings = [tuple(each[:-2] if len(each) > 6 and each[:2] == each[-2:] else each) for each in polygons]
    start = rings[0][:2]
    line = rings[0]
    for ring in rings[1:]:
        line += start + ring + ring[:2]
    return line


def split_polygon(line: Polygon) -> tuple[Polygon, ...]:
    """The polygons that `join_polygons` joined to this one; the polygon itself if it is none of these."""
    points = list(zip(line[0::2], line[1::2]))
    rings, at = [], 0
    while at < len(points):
        try:
            # each ring ends at its own first point, where a bridge begins
            end = points.index(points[at], at + 1)
        except ValueError:
            return (line,)
        rings.append(points[at:end])
        if not rings[1:]:
            at = end + 1
        elif end + 1 == len(points):
            break
        elif points[end + 1] == points[0]:
            at = end + 2
        else:
            return (line,)
    if len(rings) < 2 or min(map(len, rings)) < 3:
        return (line,)
    return tuple(tuple(value for point in ring for value in point) for ring in rings)
