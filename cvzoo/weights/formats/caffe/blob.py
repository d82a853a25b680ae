"""Caffe's blobs: arrays inside of a `.caffemodel`."""

import math

import numpy as np

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.weights.formats.caffe.wire import BYTES, FIXED32, FIXED64, VARINT, WireReader
from cvzoo.weights.formats.declared_shape import MAX_RANK, is_possible_shape

SHAPE, DATA, DOUBLE_DATA = 7, 5, 8
LEGACY_SHAPE = (1, 2, 3, 4)  # num, channels, height, width


def read_blob(wire: WireReader, begin: int, end: int, name: str) -> np.ndarray:
    """The blob between two positions, float32 (doubles are rounded), with its stored shape.

    name: of its layer, for errors
    In files from before 2014 every blob has four axes: a bias is (1, 1, 1, n), a matrix (1, 1, out, in).
    Raises FileFormatError if its shape and its data disagree.
    """
    shape: list[int] | None = None
    legacy: dict[int, int] = {}
    parts: list[np.ndarray] = []
    position = begin
    while position < end:
        number, kind, value, at, after = wire.field(position, end)
        if (number, kind) == (DATA, BYTES):
            parts.append(_packed(wire, at, after, "<f4", name))
        elif (number, kind) == (DOUBLE_DATA, BYTES):
            parts.append(_packed(wire, at, after, "<f8", name))
        elif (number, kind) in ((DATA, FIXED32), (DOUBLE_DATA, FIXED64)) and at == position + 1:
            part, after = _unpacked(wire, position, end, "<f4" if kind == FIXED32 else "<f8")
            parts.append(part)
        elif (number, kind) == (SHAPE, BYTES):
            shape = _dims(wire, at, after)
        elif number in LEGACY_SHAPE and kind == VARINT:
            legacy[number] = value
        position = after
    return _shaped(parts, shape, legacy, name, wire.where)


def _unpacked(wire: WireReader, position: int, end: int, dtype: str) -> tuple[np.ndarray, int]:
    """Consecutive unpacked numbers, each after the same tag byte, and the position after them."""
    record = np.dtype([("tag", "u1"), ("number", dtype)])
    runs: list[np.ndarray] = []
    tag, chunk = wire.data[position], 64
    while True:
        n = min(chunk, (end - position) // record.itemsize)
        records = np.frombuffer(wire.data, record, n, position)
        same = int(np.argmin(np.append(records["tag"] == tag, False)))
        runs.append(records["number"][:same].astype(np.float32))
        position += same * record.itemsize
        if same < chunk:
            return np.concatenate(runs), position
        chunk *= 2  # grows, so that a few numbers do not take time proportional to the file


def _packed(wire: WireReader, begin: int, end: int, dtype: str, name: str) -> np.ndarray:
    if (end - begin) % np.dtype(dtype).itemsize:
        raise FileFormatError(f"{wire.where}: a blob of {name!r} holds a broken number of bytes", got=end - begin)
    return np.frombuffer(wire.data[begin:end], dtype).astype(np.float32)


def _dims(wire: WireReader, begin: int, end: int) -> list[int]:
    dims: list[int] = []
    for number, kind, value, at, after in wire.fields(begin, end):
        if number == 1 and kind == VARINT:
            dims.append(value)
        elif number == 1 and kind == BYTES:
            while at < after:
                value, at = wire.varint(at, after)
                dims.append(value)
                if len(dims) > MAX_RANK:
                    return dims
    return dims


def _shaped(parts: list, shape: list[int] | None, legacy: dict[int, int], name: str, where: str) -> np.ndarray:
    flat = parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.float32), *parts])
    if shape is None:
        shape = [legacy.get(i, 0) for i in LEGACY_SHAPE] if legacy else [flat.size]
    if math.prod(shape) != flat.size or not is_possible_shape(shape, flat.itemsize):
        raise FileFormatError(
            f"{where}: a blob of {name!r} is damaged",
            expected=f"{math.prod(shape)} numbers for shape {tuple(shape[: MAX_RANK + 1])}",
            got=flat.size,
        )
    return flat.reshape(shape)
