"""Reads text files of data sets, and validates arguments."""

from collections.abc import Sequence

from cvzoo.errors.exceptions import DatasetError, FileError, ValueRangeError
from cvzoo.files.file_bytes import file_bytes
from cvzoo.typing.aliases import FilePath

_LIMIT = 1 << 28  # bytes, far more than any list, label file or XML of one image has


def read_bytes(path: FilePath, *, limit: int | None = _LIMIT) -> bytes:
    """The bytes of a file. Raises DatasetError that names it if it is missing, too large, a folder, FIFO or device."""
    try:
        return file_bytes(path, limit=limit)
    except FileError as error:
        raise DatasetError(str(error).splitlines()[0]) from error


def read_lines(path: FilePath) -> list[str]:
    """The non-empty lines of a text file, stripped of whitespace.

    Raises DatasetError that names the file if it is missing or not text.
    """
    return [line.strip() for line in read_text(path).splitlines() if line.strip()]


def read_text(path: FilePath) -> str:
    """The text of a UTF-8 file, without a byte order mark. Raises DatasetError that names it."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path} is not UTF-8 text", got=error) from error


def check_choice(what: str, value: object, choices: Sequence[object]) -> None:
    """Raises ValueRangeError unless `value` is one of the choices."""
    if value not in choices:
        raise ValueRangeError(
            f"{what} must be one of its choices", expected=" or ".join(map(repr, choices)), got=repr(value)[:80]
        )
