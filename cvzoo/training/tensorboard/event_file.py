"""Appending to a TensorBoard event file."""

import os
import struct
from collections.abc import Mapping

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.training.tensorboard.crc32c import masked_crc32c
from cvzoo.training.tensorboard.event import Histogram, summary_event, version_event
from cvzoo.typing.aliases import FilePath


class EventFile:
    """Appends events to a file, each atomically; the file of a killed run can be truncated to a given size.

    path: its name must contain "tfevents", or TensorBoard ignores it
    wall_time: seconds since 1970, of the first event of a new file
    keep: number of bytes of the existing file to keep, the rest is removed; None: starts an empty file
    Raises FileFormatError if the file has fewer bytes than `keep`, OSError if it cannot be written.

    Source: TensorFlow's TFRecord format: length (8 bytes), its checksum (4), the event, its checksum (4).
    """

    def __init__(self, path: FilePath, *, wall_time: float, keep: int | None = None):
        self._path = os.fspath(path)
        if keep is None:
            self._file = open(self._path, "wb", buffering=0)  # noqa: SIM115 - it stays open as long as this object
            self._append(version_event(wall_time))
            return
        self._file = open(self._path, "r+b", buffering=0)  # noqa: SIM115
        size = os.fstat(self._file.fileno()).st_size
        if size < keep:
            self._file.close()
            raise FileFormatError(f"{self._path}: events are missing", expected=f"{keep} bytes", got=f"{size} bytes")
        self._file.truncate(keep)
        self._file.seek(keep)

    def write(self, values: Mapping[str, float | Histogram], *, step: int, wall_time: float) -> None:
        """Appends an event with one value per tag."""
        self._append(summary_event(wall_time, step, values))

    def synced_size(self) -> int:
        """The size of the file in bytes, after a flush to the disk; the argument `keep` to continue it."""
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Closes the file; may be called repeatedly."""
        self._file.close()

    def _append(self, event: bytes) -> None:
        start = self._file.tell()
        rest = memoryview(record(event))
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            # TensorBoard stops reading at an incomplete record
            self._file.truncate(start)
            self._file.seek(start)
            raise


def record(data: bytes) -> bytes:
    """The bytes of a TFRecord."""
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked_crc32c(head)) + data + struct.pack("<I", masked_crc32c(data))
