"""A protocol-buffer message as a list of pieces, so that large arrays are not copied before they are written."""

from collections.abc import Sequence
from typing import BinaryIO

from cvzoo.weights.protobuf import float_field, int_field, varint

_BYTES = 2


class Message:
    """The fields in the order in which they were added.

    size: in bytes
    """

    def __init__(self) -> None:
        self._pieces: list[bytes | memoryview] = []
        self.size = 0

    def integer(self, number: int, value: int) -> "Message":
        """Append an int64 or enum field; returns itself."""
        return self._append(int_field(number, value))

    def real(self, number: int, value: float) -> "Message":
        """Append a float field."""
        return self._append(float_field(number, value))

    def text(self, number: int, value: str) -> "Message":
        """Append a string field."""
        return self.raw(number, value.encode("utf-8"))

    def raw(self, number: int, value: bytes | memoryview) -> "Message":
        """Append a field of bytes, or a memory view of bytes."""
        return self._append(varint(number << 3 | _BYTES) + varint(len(value)))._append(value)

    def message(self, number: int, value: "Message") -> "Message":
        """Append a message, which must not change afterwards."""
        self._append(varint(number << 3 | _BYTES) + varint(value.size))
        self._pieces += value._pieces
        self.size += value.size
        return self

    def integers(self, number: int, values: Sequence[int]) -> "Message":
        """Append a packed field of repeated int64."""
        return self.raw(number, b"".join([varint(value) for value in values]))

    def write_to(self, file: BinaryIO) -> None:
        """Write all fields."""
        for piece in self._pieces:
            file.write(piece)

    def _append(self, piece: bytes | memoryview) -> "Message":
        self._pieces.append(piece)
        self.size += len(piece)
        return self
