"""Fields of protocol buffers, as bytes.

Source: "Protocol Buffers, Encoding" (https://protobuf.dev/programming-guides/encoding/).
"""

import struct
from collections.abc import Sequence

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5


def varint(value: int) -> bytes:
    """A whole number, seven bits a byte, the lowest first; a negative one as 64 bits of two's complement."""
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


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
