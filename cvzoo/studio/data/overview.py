"""What a sample of a data set's images tells of all: sizes of images and objects, and the mean image.

Reading the labels of 100,000 images takes seconds; the plots of a page need a thousand.
"""

import base64
import binascii
import dataclasses
import functools
import json
import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Engine, func, select

from cvzoo.studio.data.where import facets_of
from cvzoo.studio.database.engine import reading
from cvzoo.studio.database.tables import ITEM
from cvzoo.studio.photos.imaging import read_facts
from cvzoo.studio.photos.store import ImageStore

_MOST, _LEAST, _MOST_OBJECT = 1000, 20, 20_000  # of the sample; about as many objects
_MOST_BOX, _MOST_LOOK = 1500, 200
_AT_ONCE = 500  # images of a statement
_SIDE = 32  # of the mean image, as the store has the images in gray


class Box(NamedTuple):
    """Sides of an object and of its image, in pixels of the image."""

    height: float
    width: float
    image_height: int
    image_width: int


@dataclasses.dataclass(frozen=True)
class Overview:
    """n_image: of the sample; n_all: of the data set

    sides: (from, below, number of images) of the longer side, which double; shapes: (height, width, number) of the most
    frequent sizes of images
    boxes: evenly spread ones of the sample; n_box: of the sample
    mean: the mean of n_mean images in gray, each stretched to a square: a PNG; empty if none can be decoded
    """

    n_image: int
    n_all: int
    sides: list[tuple[int, int, int]]
    shapes: list[tuple[int, int, int]]
    boxes: list[Box]
    n_box: int
    mean: bytes
    n_mean: int

    def to_json(self) -> dict[str, Any]:
        """For the REST interface; boxes have the fields of `Box`."""
        tree = dataclasses.asdict(self)
        boxes = [each._asdict() for each in self.boxes]
        return tree | {"boxes": boxes, "mean": base64.b64encode(self.mean).decode()}


@functools.lru_cache(maxsize=32)  # revisions do not change
def overview_of(engine: Engine, store: ImageStore, dataset: str, _: int) -> Overview:
    """The overview of the newest revision, whose number is the last argument."""
    with reading(engine) as connection:
        (splits,) = facets_of(connection, dataset, "split")
        n_all, n_object = (sum(each[i] for each in splits.values()) for i in (0, 1))
        mine = (ITEM.c.dataset == dataset) & ITEM.c.last_rev.is_(None)
        last = connection.execute(select(func.max(ITEM.c.ordinal)).where(mine)).scalar()
        n_wanted = max(min(_MOST, _MOST_OBJECT * n_all // max(n_object, 1)), _LEAST)
        ordinals = _spread(0 if last is None else last + 1, n_wanted)
        rows = []
        for start in range(0, len(ordinals), _AT_ONCE):
            part = mine & ITEM.c.ordinal.in_(ordinals[start : start + _AT_ONCE])
            query = select(ITEM.c.sha256, ITEM.c.height, ITEM.c.width, ITEM.c.labels).where(part)
            rows += [row for row in connection.execute(query.order_by(ITEM.c.ordinal)) if row.height and row.width]
    boxes = [box for row in rows for box in _boxes(row.labels, row.height, row.width)]
    mean, n_mean = _mean_image(store, [rows[i].sha256 for i in _spread(len(rows), _MOST_LOOK)])
    shapes: dict[tuple[int, int], int] = {}
    for row in rows:
        shapes[row.height, row.width] = shapes.get((row.height, row.width), 0) + 1
    frequent = sorted(shapes.items(), key=lambda each: (-each[1], each[0]))
    return Overview(
        len(rows),
        n_all,
        _doubling([max(row.height, row.width) for row in rows]),
        [(*size, n) for size, n in frequent[:5]],
        [boxes[i] for i in _spread(len(boxes), _MOST_BOX)],
        len(boxes),
        mean,
        n_mean,
    )


def _spread(n: int, n_wanted: int) -> list[int]:
    """At most n_wanted of the numbers below n, evenly spread."""
    if n <= n_wanted:
        return list(range(n))
    return sorted({i * (n - 1) // (n_wanted - 1) for i in range(n_wanted)})


def _boxes(labels: str, height: int, width: int) -> Iterator[Box]:
    for each in json.loads(labels):
        if "box" in each:
            y_min, x_min, y_max, x_max = each["box"]
            if y_max > y_min and x_max > x_min:
                yield Box(y_max - y_min, x_max - x_min, height, width)


def _doubling(values: list[int]) -> list[tuple[int, int, int]]:
    """(from, below, number of values) from the least to the greatest, each twice as far as the one before."""
    counts: dict[int, int] = {}
    for value in values:
        power = int(math.log2(value))
        counts[power] = counts.get(power, 0) + 1
    return [(2**k, 2 ** (k + 1), counts.get(k, 0)) for k in range(min(counts), max(counts) + 1)] if counts else []


def _mean_image(store: ImageStore, hashes: list[str]) -> tuple[bytes, int]:
    looks = []
    for sha256 in hashes:
        look = (read_facts(store, sha256) or {}).get("look")
        pixels = b"" if look is None else base64.b64decode(look)
        if len(pixels) == _SIDE * _SIDE:
            looks.append(pixels)
    if not looks:
        return b"", 0
    return _png(bytes(round(sum(pixel) / len(looks)) for pixel in zip(*looks))), len(looks)


def _png(pixels: bytes) -> bytes:
    """A square image in gray; the server has nothing else that writes images."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", binascii.crc32(kind + data))

    lines = b"".join(b"\0" + pixels[i : i + _SIDE] for i in range(0, len(pixels), _SIDE))
    head = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
