"""How much an upload may have, and what is left of the disk."""

import pathlib
import shutil

MAX_UPLOAD = 50 << 30  # bytes of an upload
MAX_OPEN = 100  # uploads that are not used yet
MAX_CHUNK = 64 << 20  # bytes of a request
MAX_FILES = 100_000  # files of an archive
MAX_UNPACKED = 100 << 30
EXPIRES_MS = 7 * 24 * 3600 * 1000  # after which an upload that nothing was added to is deleted
GRACE_MS = 3600 * 1000  # of a file that belongs to nothing: what it belongs to may be about to be written
_MIN_FREE = 2 << 30


def room(folder: pathlib.Path) -> int:
    """The bytes that may still be written to the disk of the folder: 2 GB stay free for trainings."""
    return max(shutil.disk_usage(folder).free - _MIN_FREE, 0)
