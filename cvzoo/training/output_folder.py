"""The output folder of a run: errors before training if it cannot be written, warnings during training."""

import contextlib
import errno
import os
import pathlib
import re
import tempfile
import warnings
from collections.abc import Callable

from cvzoo.files.atomic_write import atomic_write
from cvzoo.typing.plain import FilePath

_PART = re.compile(r"\..+\.[a-z0-9_]{8}\.part")  # as atomic_write calls a file that is not whole yet


def make_output_folder(out: FilePath) -> None:
    """Creates the folder, and checks that it is writable. Raises OSError, naming the folder and the cause."""
    try:
        pathlib.Path(out).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=os.fspath(out)) as file:
            file.write(b"\0")
    except OSError as error:
        raise type(error)(error.errno, f"the output folder is not writable: {error.strerror}", str(out)) from None


def check_output_folder(out: FilePath) -> None:
    """Checks that the folder is writable, or can be created; does not create it.

    Raises OSError, naming the obstacle.
    """
    existing = pathlib.Path(out).absolute()
    while not os.path.lexists(existing):
        existing = existing.parent
    error = None if existing.is_dir() else errno.ENOTDIR
    if error is None and not os.access(existing, os.W_OK | os.X_OK):
        error = errno.EACCES
    if error is not None:
        raise OSError(error, f"the output folder is not writable: {os.strerror(error)}", str(existing))


def sweep_parts(folder: FilePath) -> None:
    """Removes incomplete files of a killed process, `.NAME.xxxxxxxx.part`, from a folder without other writers."""
    for path in pathlib.Path(folder).glob(".*.part"):
        if _PART.fullmatch(path.name):
            with contextlib.suppress(OSError):
                path.unlink()


def write_or_warn(path: FilePath, write: Callable[[], None]) -> bool:
    """Whether `write()` could write the file; if not, a warning names the file and the cause, and training continues.

    write: writes `path` by `atomic_write`, so that an old file is kept if it fails
    """
    try:
        write()
    except OSError as error:
        cause = error.strerror or str(error)
        warnings.warn(
            f"{os.fspath(path)} could not be written: {cause}; training continues", RuntimeWarning, stacklevel=2
        )
        return False
    return True


def write_text(path: FilePath, text: str) -> None:
    """Writes a text file atomically."""
    with atomic_write(path) as file:
        file.write(text.encode("utf-8"))
