"""Folders and files that a run writes: told early when they cannot be, and never the end of a run later."""

import contextlib
import errno
import os
import pathlib
import re
import tempfile
import warnings
from collections.abc import Callable

from cvzoo.files.atomic_write import atomic_write

_PART = re.compile(r"\..+\.[a-z0-9_]{8}\.part")  # as atomic_write calls a file that is not whole yet


def make_output_folder(out: str | os.PathLike) -> None:
    """Make the folder, and see that it can be written to. Raises OSError, naming the folder and the cause."""
    try:
        pathlib.Path(out).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out) as file:
            file.write(b"\0")
    except OSError as error:
        raise type(error)(
            error.errno, f"nothing can be written to the output folder: {error.strerror}", str(out)
        ) from None


def check_output_folder(out: str | os.PathLike) -> None:
    """See that the folder is there and can be written to, or can be made; nothing is made.

    Raises OSError, naming what is in the way.
    """
    place = pathlib.Path(out).absolute()
    while not os.path.lexists(place):
        place = place.parent
    error = None if place.is_dir() else errno.ENOTDIR
    if error is None and not os.access(place, os.W_OK | os.X_OK):
        error = errno.EACCES
    if error is not None:
        raise OSError(error, f"nothing can be written to the output folder: {os.strerror(error)}", str(place))


def sweep_parts(folder: str | os.PathLike) -> None:
    """Remove what a killed process was writing, `.NAME.xxxxxxxx.part`, from a folder that nobody else writes to."""
    for path in pathlib.Path(folder).glob(".*.part"):
        if _PART.fullmatch(path.name):
            with contextlib.suppress(OSError):
                path.unlink()


def write_or_warn(path: str | os.PathLike, write: Callable[[], None]) -> bool:
    """Whether `write()` could write the file; if not, a warning names the file and the cause, and training goes on.

    write: writes `path` by way of `atomic_write`, so that an old file is still there if it fails
    """
    try:
        write()
    except OSError as error:
        cause = error.strerror or str(error)
        warnings.warn(
            f"{os.fspath(path)} could not be written: {cause}; training goes on", RuntimeWarning, stacklevel=2
        )
        return False
    return True


def write_text(path: str | os.PathLike, text: str) -> None:
    """Write a text file that is whole or not there."""
    with atomic_write(path) as file:
        file.write(text.encode("utf-8"))
