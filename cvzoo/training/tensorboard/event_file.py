"""A file of events that grows."""

import os
import struct
from collections.abc import Mapping

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.training.tensorboard.crc32c import masked_crc32c
from cvzoo.training.tensorboard.event import Histogram, summary_event, version_event


class EventFile:
    """Events at the end of a file; every `write` leaves whole records behind, and a file that a killed run left
    behind can be cut back to where it was sound.

    path: its name must contain "tfevents", or TensorBoard does not look at it
    wall_time: seconds since 1970, of the first event of a new file
    keep: go on after this many bytes of the file that is there, and forget what follows; None: begin anew
    Raises FileFormatError if the file has fewer bytes than `keep`, OSError if it cannot be written.

    Source: TensorFlow's TFRecord format: length (8 bytes), its checksum (4), the event, its checksum (4).
    """

    def __init__(self, path: str | os.PathLike, *, wall_time: float, keep: int | None = None):
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
        """Add an event with a value for each tag."""
        self._append(summary_event(wall_time, step, values))

    def synced_size(self) -> int:
        """The file's length in bytes, once all of it has reached the disk: what `keep` wants to be."""
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """No more is written; more than once does no harm."""
        self._file.close()

    def _append(self, event: bytes) -> None:
        start = self._file.tell()
        rest = memoryview(record(event))
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            # a half record would hide every later one from TensorBoard
            self._file.truncate(start)
            self._file.seek(start)
            raise


def record(data: bytes) -> bytes:
    """The bytes of a TFRecord."""
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked_crc32c(head)) + data + struct.pack("<I", masked_crc32c(data))
