"""Writing a file so that it is either whole or not there at all."""

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Iterator
from typing import BinaryIO


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """A binary file to write to; at the end of the block it takes the path's place in one step.

    It lies in the same folder meanwhile, so that the rename stays within one file system. When the block raises, the
    old file, if there was one, is still there, and nothing else.
    Raises OSError, naming the path, where the folder is missing or may not be written to.
    """
    path = pathlib.Path(path)
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:60]}.", suffix=".part", dir=path.parent)
    except OSError as error:
        error.filename = str(path)  # what the caller asked for, not the name it has meanwhile
        raise
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())  # mkstemp's own mode would hide the file from everybody else
        os.replace(name, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(name)
        if isinstance(error, OSError) and error.filename == name:
            error.filename = str(path)
            del error.filename2  # None would be printed
        raise
    sync_folder(path.parent)


def sync_folder(folder: str | os.PathLike) -> None:
    """Make a rename inside of the folder survive a power cut, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _umask() -> int:
    # the only portable way to read it is to set it, which other threads could see: read the kernel's answer first
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/self/status", encoding="ascii") as status:
        return int(next(line for line in status if line.startswith("Umask:")).split()[1], 8)
    return 0o022
