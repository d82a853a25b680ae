"""Several polygons as one line of points, as YOLO's segment format has it, and back.

The line goes round the first polygon, and for each further one from the first point to it, round it and back the same
way: bridges without an area, which no way of filling sees.
"""

from collections.abc import Sequence

Polygon = tuple[float, ...]


def joined(polygons: Sequence[Polygon]) -> Polygon:
    """One polygon x0, y0, x1, y1 ... that covers what all of them cover. A single one stays as it is."""
    if len(polygons) == 1:
        return tuple(polygons[0])
    rings = [tuple(each[:-2] if len(each) > 6 and each[:2] == each[-2:] else each) for each in polygons]
    start = rings[0][:2]
    line = rings[0]
    for ring in rings[1:]:
        line += start + ring + ring[:2]
    return line


def parted(line: Polygon) -> tuple[Polygon, ...]:
    """The polygons that `joined` made the line of; the line itself if it is none of its."""
    points = list(zip(line[0::2], line[1::2]))
    rings, at = [], 0
    while at < len(points):
        try:
            # the first ring ends where the bridge begins, at its own first point; each other one at its own
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
