"""Which objects the anchors of a detector reach, as a plot and in numbers."""

import dataclasses
import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.studio.data.overview import Box

LEAST, MOST = 4.0, 1024.0  # pixels of the network's input, of the plot's axes
SIDE = 300.0  # of the plot
THRESH = 0.5
_N_CELL = 60
_BOUNDS = (0, 16, 32, 64, 128, 256)


@dataclasses.dataclass(frozen=True)
class Reach:
    """A plot of boxes by width and height, resized as the detector resizes their images.

    area: the sizes that an anchor reaches; reached, missed: the boxes; paths of SVG
    rows: (side, boxes, how many are reached) by the square root of the boxes' area
    """

    recipe: str
    area: str
    reached: str
    missed: str
    n_box: int
    n_reached: int
    rows: list[tuple[str, int, int]]


def reach_of(recipe: str, anchors: Mapping[str, Any], boxes: Sequence[Box]) -> Reach:
    """The reach of a recipe's anchors: of the same center, with an IoU of at least 0.5.

    anchors: "sides", (height, width) of each, "min_size" and "max_size", of the resized image
    """
    sides = tuple((float(h), float(w)) for h, w in anchors["sides"])
    counts = {low: [0, 0] for low in _BOUNDS}
    hit, miss = [], []
    for box in boxes:
        scale = min(
            anchors["min_size"] / min(box.image_height, box.image_width),
            anchors["max_size"] / max(box.image_height, box.image_width),
        )
        height, width = box.height * scale, box.width * scale
        is_hit = _is_reached(height, width, sides)
        side = math.sqrt(height * width)
        low = max(low for low in _BOUNDS if side >= low)
        counts[low][0] += 1
        counts[low][1] += is_hit
        x, y = place(width), SIDE - place(height)
        if is_hit:
            hit.append(f"M{x:.1f} {y:.1f}h0")  # a dot by round ends
        else:
            miss.append(f"M{x - 2.5:.1f} {y - 2.5:.1f}l5 5m0-5l-5 5")
    n = [sum(each[i] for each in counts.values()) for i in (0, 1)]
    names = [f"{low} to {high}" for low, high in itertools.pairwise(_BOUNDS)] + [f"{_BOUNDS[-1]} and more"]
    rows = [(name, counts[low][0], counts[low][1]) for low, name in zip(_BOUNDS, names) if counts[low][0]]
    return Reach(recipe, _area(sides), "".join(hit), "".join(miss), n[0], n[1], rows)


def place(value: float) -> float:
    """Where a length is on an axis of the plot; what is beyond its ends is at them."""
    part = math.log(min(max(value, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return SIDE * part


def _is_reached(height: float, width: float, sides: Sequence[tuple[float, float]]) -> bool:
    for h, w in sides:
        shared = min(height, h) * min(width, w)
        if shared >= THRESH * (height * width + h * w - shared):
            return True
    return False


@functools.lru_cache(maxsize=64)
def _area(sides: tuple[tuple[float, float], ...]) -> str:
    """The sizes within reach: a rectangle for each run of cells of a row."""
    step = SIDE / _N_CELL
    values = [LEAST * (MOST / LEAST) ** ((i + 0.5) / _N_CELL) for i in range(_N_CELL)]
    found = []
    for row, height in enumerate(values):
        start = None
        for column in range(_N_CELL + 1):
            is_in = column < _N_CELL and _is_reached(height, values[column], sides)
            if is_in and start is None:
                start = column
            elif not is_in and start is not None:
                top = SIDE - (row + 1) * step
                found.append(f"M{start * step:g} {top:g}h{(column - start) * step:g}v{step:g}H{start * step:g}z")
                start = None
    return "".join(found)
