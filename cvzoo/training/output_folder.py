"""Folders and files that a run writes: told early when they cannot be, and never the end of a run later."""

import os
import pathlib
import tempfile
import warnings
from collections.abc import Callable

from cvzoo.weights.atomic_write import atomic_write


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
