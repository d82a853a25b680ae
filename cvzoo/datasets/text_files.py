"""Reading the files that data sets come with, and checking what a user chose."""

import os

from cvzoo.errors.exceptions import DatasetError, FileError, ValueRangeError
from cvzoo.files.file_bytes import file_bytes

_LIMIT = 1 << 28  # bytes: no list, label file or XML of one photo comes near


def read_bytes(path: str | os.PathLike, *, limit: int | None = _LIMIT) -> bytes:
    """The bytes of a file. Raises DatasetError that names it if it is absent, too large, a folder, FIFO or device."""
    try:
        return file_bytes(path, limit=limit)
    except FileError as error:
        raise DatasetError(str(error).splitlines()[0]) from error


def read_lines(path):
    """The lines of a text file that are not empty, blanks around them cut off.

    Raises DatasetError that names the file if it is absent or no text.
    """
    return [line.strip() for line in read_text(path).splitlines() if line.strip()]


def read_text(path):
    """The text of a file (UTF-8, a byte order mark is dropped). Raises DatasetError that names it."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}: not UTF-8 text", got=error) from error


def check_choice(what, value, choices):
    """Nothing, or ValueRangeError unless `value` is one of the choices."""
    if value not in choices:
        raise ValueRangeError(
            f"{what} has no such value", expected=" or ".join(map(repr, choices)), got=repr(value)[:80]
        )
