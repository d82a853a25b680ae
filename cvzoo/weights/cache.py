"""Where downloaded files lie: `CVZOO_HOME`, or `cvzoo` in the user's cache directory."""

import pathlib

from cvzoo.config.home import cvzoo_home
from cvzoo.weights.record import Weights


def cached_path(record: Weights) -> pathlib.Path:
    """Where the record's file lies once it is fetched: `<home>/weights/<name>/<file name>`."""
    return cvzoo_home() / "weights" / record.name / record.file_name


def unproven_mark(path: pathlib.Path) -> pathlib.Path:
    """The path of the mark that lies beside a fetched file until a model has taken it."""
    return path.with_name(f".{path.name}.unproven")


def is_cached(record: Weights) -> bool:
    """Whether a file of the right size lies there, and not one that no model ever took; its hash is checked later."""
    path = cached_path(record)
    try:
        if unproven_mark(path).exists():
            return False
        return path.is_file() and (record.size is None or path.stat().st_size == record.size)
    except OSError:
        return False
