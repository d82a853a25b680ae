"""MATLAB files of version 5, as small as tests need them."""

import struct
import zlib

import numpy as np

_CLASSES = {"f8": 6, "f4": 7, "i1": 8, "u1": 9, "i2": 10, "u2": 11, "i4": 12, "u4": 13, "i8": 14, "u8": 15}
_NUMBERS = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 9, "i8": 12, "u8": 13}


def element(kind, body):
    if len(body) <= 4 and kind != 14:
        return struct.pack("<HH", kind, len(body)) + body.ljust(4, b"\0")
    return struct.pack("<II", kind, len(body)) + body + b"\0" * (-len(body) % 8)


def matrix(name, value):
    if isinstance(value, dict):
        names = b"".join(key.encode().ljust(32, b"\0") for key in value)
        kind, shape = 2, (1, 1)
        rest = element(5, struct.pack("<i", 32)) + element(1, names)
        rest += b"".join(matrix("", each) for each in value.values())
    else:
        code = value.dtype.str[1:]
        kind, shape = _CLASSES[code], value.shape
        rest = element(_NUMBERS[code], value.tobytes(order="F"))
    head = element(6, struct.pack("<II", kind, 0)) + element(5, np.array(shape, "<i4").tobytes())
    return element(14, head + element(1, name.encode()) + rest)


def mat(values, compressed):
    data = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    for name, value in values.items():
        body = matrix(name, value)
        if compressed:
            packed = zlib.compress(body)
            body = struct.pack("<II", 15, len(packed)) + packed
        data += body
    return data
