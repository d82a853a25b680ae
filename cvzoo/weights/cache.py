"""Paths of downloaded files, below `CVZOO_HOME`, or `cvzoo` in the user's cache directory."""

import pathlib

from cvzoo.files.home import cvzoo_home
from cvzoo.weights.record import Weights


def cached_path(record: Weights) -> pathlib.Path:
    """Path of the record's downloaded file: `<home>/weights/<name>/<file name>`."""
    return cvzoo_home() / "weights" / record.name / record.file_name


def unproven_mark(path: pathlib.Path) -> pathlib.Path:
    """Path of the marker file that stays next to a downloaded file until a model has loaded it."""
    return path.with_name(f".{path.name}.unproven")


def is_cached(record: Weights) -> bool:
    """Whether a file of the right size is cached and was loaded once; its hash is checked later."""
    path = cached_path(record)
    try:
        if unproven_mark(path).exists():
            return False
        return path.is_file() and (record.size is None or path.stat().st_size == record.size)
    except OSError:
        return False
