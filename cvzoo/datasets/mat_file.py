"""Reads MATLAB files of version 5 (MAT-file level 5): numeric arrays and structures, as data sets contain them."""

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.files.file_bytes import file_bytes
from cvzoo.typing.aliases import FilePath

_DTYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MATRIX, _COMPRESSED = 14, 15
_STRUCT = 2  # MATLAB's class number
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_MAX_BYTES = 1 << 30  # of the file, and of what its compressed parts expand to
_MAX_DEPTH = 16  # of nested structs, so that a file cannot exhaust the stack


def read_mat(path: FilePath) -> dict[str, Any]:
    """The variables of a file, by name: NumPy arrays, and dictionaries for structures of one element.

    Other variables (cells, sparse matrices, text, structures of several elements) are None.
    Raises FileFormatError, naming the file, if it is damaged or of another version.
    """
    data = file_bytes(path, limit=_MAX_BYTES)
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None or len(data) < 136:
        raise FileFormatError(f"{path}: not a MATLAB file of version 5", hint="save it with -v6 or -v7")
    try:
        variables = {}
        for kind, body in _elements(memoryview(data)[128:], order):
            if kind == _COMPRESSED:
                kind, body = next(_elements(memoryview(_decompress(body)), order))
            if kind == _MATRIX:
                name, value = _matrix(body, order, 0)
                variables[name] = value
        return variables
    except (struct.error, zlib.error, ValueError, StopIteration, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path}: the file is damaged or truncated", got=error) from error


def _decompress(body: memoryview) -> bytes:
    decompressor = zlib.decompressobj()
    data = decompressor.decompress(body, _MAX_BYTES)
    if decompressor.unconsumed_tail:
        raise ValueError("the decompressed data are too large")
    return data


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """(type, body) of each element."""
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from(order + "II", data, at)
        if kind >> 16:  # the small format: four bytes or fewer are in the tag itself
            kind, size, start, step = kind & 0xFFFF, kind >> 16, at + 4, 8
            if size > 4:
                raise ValueError("a small element is too large")
        else:
            start = at + 8
            # a compressed element is not padded
            step = 8 + (size if kind == _COMPRESSED else -(-size // 8) * 8)
        if start + size > len(data):
            raise ValueError("an element exceeds the end of the file")
        yield kind, data[start : start + size]
        at += step


def _matrix(body: memoryview, order: str, depth: int) -> tuple[str, Any]:
    if depth > _MAX_DEPTH:
        raise ValueError("structures are nested too deeply")
    if len(body) == 0:
        return "", np.empty((0, 0))
    parts = _elements(body, order)
    kind = struct.unpack(order + "I", next(parts)[1][:4])[0] & 0xFF
    shape = np.frombuffer(next(parts)[1], order + "i4").tolist()
    name = bytes(next(parts)[1]).decode("ascii")
    if kind == _STRUCT:
        return name, _structure(parts, shape, order, depth)
    if kind not in _CLASSES:
        return name, None
    data_type, data = next(parts)
    if data_type not in _DTYPES:
        raise ValueError(f"unknown data type {data_type}")
    # stored in the smallest type that represents all values exactly
    values = np.frombuffer(data, order + _DTYPES[data_type]).astype(_CLASSES[kind])
    return name, values.reshape(shape, order="F")


def _structure(
    parts: Iterator[tuple[int, memoryview]], shape: Sequence[int], order: str, depth: int
) -> dict[str, Any] | None:
    length = struct.unpack(order + "i", next(parts)[1])[0]
    packed = bytes(next(parts)[1])
    if length <= 0:
        raise ValueError("field names have no length")
    names = [packed[at : at + length].split(b"\0")[0].decode("ascii") for at in range(0, len(packed), length)]
    if np.prod(shape) != 1:
        return None
    values = [_matrix(part, order, depth + 1)[1] for _, part in parts]
    if len(values) != len(names):
        raise ValueError("a structure has fewer values than fields")
    return dict(zip(names, values))
