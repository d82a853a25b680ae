"""Validates output paths before long work."""

import os
import pathlib
import tempfile

from cvzoo.errors.exceptions import ConfigError


def check_target(path: str | os.PathLike | None) -> None:
    """Raises ConfigError if a file with this path cannot be written. None and "-", standard output, are accepted."""
    if path is None or path == "-":
        return
    path = pathlib.Path(path)
    if path.is_dir():
        raise ConfigError(f"{path} is a folder", expected="the name of a file")
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: the folder {path.parent} does not exist")
    check_folder(path.parent, path)


def check_folder(folder: pathlib.Path, target: str | os.PathLike) -> None:
    """Raises ConfigError, naming the target, if no file can be created in the folder."""
    try:
        # permissions alone do not tell of read-only and virtual file systems, nor of network ones
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ConfigError(f"{os.fspath(target)}: the folder {folder} is not writable: {error.strerror}") from error
