"""Placement of label texts next to boxes without overlap."""

from collections.abc import Sequence


def place_plate(
    frame: tuple[int, int, int, int],
    plate_size: tuple[int, int],
    size: tuple[int, int],
    taken: Sequence[tuple[int, ...]],
) -> tuple[int, int]:
    """The (x, y) of the upper left corner of a label text: inside of the image, and without overlap if possible.

    frame: (left, top, right, bottom) of the box, inclusive pixels
    plate_size: (width, height) of the label text; size: (W, H) of the image
    taken: (x, y, width, height) of previously placed texts

    Tried in turn: above the upper left corner, inside it, below the lower left, the same at the right, then down along
    the left side. If all are taken, the first.
    """
    left, top, right, bottom = frame
    width, height = plate_size
    columns = (left, right + 1 - width)
    rows = (top - height, top, bottom + 1, bottom + 1 - height)
    places = [(x, y) for x in columns for y in rows]
    places += [(left, top + step * height) for step in range(1, 6)]
    inside = [_pushed_in(place, plate_size, size) for place in places]
    # positions that had to be moved up or down overlap the box or another text, and are tried last
    unmoved = [place for place, tried in zip(inside, places) if place[1] == tried[1]]
    for x, y in unmoved + inside:
        if not any(_overlap((x, y, width, height), other) for other in taken):
            return x, y
    return (unmoved + inside)[0]


def _pushed_in(place: tuple[int, int], plate_size: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    # a text wider than the image begins at its left edge
    x, y = (max(min(at, whole - part), 0) for at, part, whole in zip(place, plate_size, size))
    return x, y


def _overlap(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]
