"""Reading MATLAB's files of version 5: numeric arrays and structures, which is what data sets keep in them."""

import struct
import zlib

import numpy as np

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.files.file_bytes import file_bytes

_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MATRIX, _COMPRESSED = 14, 15
_STRUCT = 2
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_MAX_BYTES = 1 << 30
_MAX_DEPTH = 16


def read_mat(path):
    """The variables of a file: a dictionary of NumPy arrays, and of dictionaries for structures of one element.

    What is neither (cells, sparse matrices, text, structures of several elements) comes as None.
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
                kind, body = next(_elements(memoryview(_unfold(body)), order))
            if kind == _MATRIX:
                name, value = _matrix(body, order, 0)
                variables[name] = value
        return variables
    except (struct.error, zlib.error, ValueError, StopIteration, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path}: the file is damaged or cut off", got=error) from error


def _unfold(body):
    machine = zlib.decompressobj()
    data = machine.decompress(body, _MAX_BYTES)
    if machine.unconsumed_tail:
        raise ValueError("unfolds to more than makes sense")
    return data


def _elements(data, order):
    """(type, body) of the elements one after another."""
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from(order + "II", data, at)
        if kind >> 16:  # four bytes or fewer lie within the tag itself
            kind, size, start, step = kind & 0xFFFF, kind >> 16, at + 4, 8
            if size > 4:
                raise ValueError("a small element is too large")
        else:
            start = at + 8
            # a compressed element is not padded
            step = 8 + (size if kind == _COMPRESSED else -(-size // 8) * 8)
        if start + size > len(data):
            raise ValueError("an element reaches past the end")
        yield kind, data[start : start + size]
        at += step


def _matrix(body, order, depth):
    if depth > _MAX_DEPTH:
        raise ValueError("structures within structures without end")
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
    number, data = next(parts)
    if number not in _NUMBERS:
        raise ValueError(f"numbers of the unknown type {number}")
    # values are stored in the smallest type that holds them
    values = np.frombuffer(data, order + _NUMBERS[number]).astype(_CLASSES[kind])
    return name, values.reshape(shape, order="F")


def _structure(parts, shape, order, depth):
    length = struct.unpack(order + "i", next(parts)[1])[0]
    packed = bytes(next(parts)[1])
    if length <= 0:
        raise ValueError("names of fields without a length")
    names = [packed[at : at + length].split(b"\0")[0].decode("ascii") for at in range(0, len(packed), length)]
    if np.prod(shape) != 1:
        return None
    values = [_matrix(part, order, depth + 1)[1] for _, part in parts]
    if len(values) != len(names):
        raise ValueError("a structure with fewer values than fields")
    return dict(zip(names, values))
