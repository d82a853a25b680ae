"""Validates output paths before long work."""

import os
import pathlib

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
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise ConfigError(f"{path}: the folder {path.parent} is not writable")
