"""Fields of protocol buffers, as bytes.

Source: "Protocol Buffers, Encoding" (https://protobuf.dev/programming-guides/encoding/).
"""

import struct
from collections.abc import Sequence

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5


def varint(value: int) -> bytes:
    """An integer in groups of seven bits per byte, the lowest first; negative ones as 64-bit two's complement."""
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def int_field(number: int, value: int) -> bytes:
    """An int64."""
    return _tag(number, _VARINT) + varint(value)


def double_field(number: int, value: float) -> bytes:
    """A double."""
    return _tag(number, _FIXED_64) + struct.pack("<d", value)


def float_field(number: int, value: float) -> bytes:
    """A float."""
    return _tag(number, _FIXED_32) + struct.pack("<f", value)


def bytes_field(number: int, value: bytes) -> bytes:
    """Bytes, or another message."""
    return _tag(number, _BYTES) + varint(len(value)) + value


def text_field(number: int, value: str) -> bytes:
    """A string."""
    return bytes_field(number, value.encode("utf-8"))


def doubles_field(number: int, values: Sequence[float]) -> bytes:
    """Repeated doubles, packed."""
    return bytes_field(number, struct.pack(f"<{len(values)}d", *values))


def _tag(number: int, kind: int) -> bytes:
    return varint(number << 3 | kind)
