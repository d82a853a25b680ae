"""Reading the lists that data sets come with, and checking what a user chose."""

import pathlib

from cvzoo.errors.exceptions import DatasetError, ValueRangeError


def read_lines(path):
    """The lines of a text file that are not empty, blanks around them cut off.

    Raises DatasetError that names the file if it is absent or no text.
    """
    return [line.strip() for line in read_text(path).splitlines() if line.strip()]


def read_text(path):
    """The text of a file (UTF-8, a byte order mark is dropped). Raises DatasetError that names it."""
    try:
        return pathlib.Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}: not UTF-8 text", got=error) from error
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read", got=error.strerror) from error


def check_choice(what, value, choices):
    """Nothing, or ValueRangeError unless `value` is one of the choices."""
    if value not in choices:
        raise ValueRangeError(
            f"{what} has no such value", expected=" or ".join(map(repr, choices)), got=repr(value)[:80]
        )
