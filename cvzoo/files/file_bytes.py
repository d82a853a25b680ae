"""Reading of whole files; FIFOs, devices and files above a limit are refused before reading."""

import os
import pathlib
import stat

from cvzoo.errors.exceptions import FileError, FileFormatError


def file_size(path: str | os.PathLike) -> int:
    """The size of the file in bytes. Raises FileError if it does not exist or is not a regular file."""
    try:
        facts = pathlib.Path(path).stat()
    except FileNotFoundError:
        raise FileError(
            f"{path}: no such file", hint="check the path; downloaded models are below CVZOO_HOME"
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise FileError(f"{path}: cannot be read: {error}") from error
    if stat.S_ISDIR(facts.st_mode):
        best = pathlib.Path(path) / "best.safetensors"  # of a training run
        raise FileError(f"{path}: a folder, not a file", hint=str(best) if best.is_file() else None)
    if not stat.S_ISREG(facts.st_mode):
        raise FileError(f"{path}: a device, not a file")
    return facts.st_size


def file_bytes(path: str | os.PathLike, *, limit: int | None = None) -> bytes:
    """The bytes of the file. Raises FileFormatError above `limit` bytes, FileError if it cannot be read."""
    size = file_size(path)
    if limit is not None and size > limit:
        raise FileFormatError(
            f"{path}: the file is too large for its format", expected=f"at most {limit} bytes", got=size
        )
    try:
        return pathlib.Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error}") from error
