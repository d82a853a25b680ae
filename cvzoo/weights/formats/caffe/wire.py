"""The wire format of protocol buffers.

Source: Protocol Buffers Encoding (https://protobuf.dev/programming-guides/encoding). We differ: groups, which Caffe
does not use, are refused.
"""

import dataclasses
import struct
from collections.abc import Iterator

from cvzoo.errors.exceptions import FileFormatError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
MAX_FIELDS = 300_000  # a real network has some ten thousand


@dataclasses.dataclass
class WireReader:
    """Parses messages; one reader per file, which limits the total number of fields and packed numbers.

    data: the file's bytes
    where: the file's name, for errors
    """

    data: memoryview
    where: str
    left: int = dataclasses.field(default_factory=lambda: MAX_FIELDS)

    def spend(self, n: int) -> None:
        """Count `n` more fields or packed numbers. Raises FileFormatError beyond the limit."""
        self.left -= n
        if self.left < 0:
            raise FileFormatError(f"{self.where}: more than {MAX_FIELDS} fields, far too many for a network")

    def fields(self, start: int, end: int) -> Iterator[tuple[int, int, int, int, int]]:
        """The fields between two positions, each as returned by `field`."""
        position = start
        while position < end:
            field = self.field(position, end)
            yield field
            position = field[4]

    def field(self, position: int, end: int) -> tuple[int, int, int, int, int]:
        """(number, wire type, value, begin, after) of the field at the position.

        value: the number of a VARINT; 0 for others, whose payload is at begin:after
        Raises FileFormatError when the field is damaged or reaches past `end`.
        """
        self.spend(1)
        tag, begin = self.varint(position, end)
        number, kind = tag >> 3, tag & 7
        value, after = 0, begin
        if number == 0:
            raise self.error(position, "a field with number 0")
        if kind == VARINT:
            value, after = self.varint(begin, end)
        elif kind == FIXED64:
            after = begin + 8
        elif kind == FIXED32:
            after = begin + 4
        elif kind == BYTES:
            size, begin = self.varint(begin, end)
            after = begin + size
        else:
            raise self.error(position, f"wire type {kind}, which Caffe does not use")
        if after > end:
            raise self.error(begin, f"field {number} reaches {after - end} bytes past its end")
        return number, kind, value, begin, after

    def varint(self, position: int, end: int) -> tuple[int, int]:
        """An unsigned 64-bit integer, and the position after it."""
        value = 0
        for i in range(10):
            if position + i >= end:
                raise self.error(position, "a number is cut off")
            byte = self.data[position + i]
            value |= (byte & 0x7F) << (7 * i)
            if byte < 0x80:
                return value & 0xFFFF_FFFF_FFFF_FFFF, position + i + 1
        raise self.error(position, "a number of more than 10 bytes")

    def text(self, begin: int, end: int) -> str:
        """The payload as text."""
        return str(self.data[begin:end], "utf-8", "replace")

    def unpack(self, form: str, begin: int) -> float:
        """A fixed-size number at a position from `fields`."""
        return struct.unpack_from(form, self.data, begin)[0]

    def error(self, position: int, what: str) -> FileFormatError:
        """The error to raise, with the file and the position."""
        return FileFormatError(f"{self.where}: damaged or cut off near byte {position}: {what}")
