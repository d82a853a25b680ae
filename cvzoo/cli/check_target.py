"""What is wrong with the files that a command line wants written, told before the long work and not after it."""

import os
import pathlib

from cvzoo.errors.exceptions import ConfigError


def check_target(path: str | os.PathLike | None) -> None:
    """Nothing, or ConfigError if a file of this path cannot be written. None and "-", standard output, always can."""
    if path is None or path == "-":
        return
    path = pathlib.Path(path)
    if path.is_dir():
        raise ConfigError(f"{path} is a folder", expected="the name of a file")
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise ConfigError(f"{path}: nothing may be written to {path.parent}")
