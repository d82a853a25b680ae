"""Atomic writing of files, and removal of what killed processes left of it."""

import contextlib
import os
import pathlib
import secrets
import shutil
from collections.abc import Iterator
from typing import BinaryIO


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike, *, is_durable: bool = True) -> Iterator[BinaryIO]:
    """A temporary binary file to write to, which is renamed to the path at the end of the block.

    It is in the same folder, so that the rename is within one file system and thus atomic. If the block raises, it is
    deleted, and an existing file is unchanged.
    is_durable: whether the contents survive a power failure; False for what is made again if it is damaged, since
    waiting for the disk takes milliseconds a file
    Raises OSError, naming the path, if the folder is missing or not writable.
    """
    path = pathlib.Path(path)
    name = os.path.join(path.parent, f".{path.name[:60]}.{secrets.token_hex(4)}.part")
    try:
        # not `mkstemp`, whose files their owner alone may read, whatever the umask says
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        error.filename = str(path)  # the caller's path, not the temporary one
        raise
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if is_durable:
                # before the rename: otherwise a power failure may leave the new name without its contents
                os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(name)
        # of a full disk, too, whose error names no file
        if isinstance(error, OSError) and error.errno is not None and error.filename in (name, None):
            error.filename = str(path)
            del error.filename2  # None would be printed
        raise
    if is_durable:
        sync_folder(path.parent)


def remove_path(path: pathlib.Path) -> None:
    """Removes a file, or a folder with all that is in it; what is not there or may not be removed is no error."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def sync_folder(folder: str | os.PathLike) -> None:
    """Sync the folder, so that a rename in it survives a power failure, if the system supports that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
