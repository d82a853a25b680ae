"""Where downloaded files lie: `CVZOO_HOME`, or `cvzoo` in the user's cache directory."""

import pathlib

from cvzoo.config.home import cvzoo_home
from cvzoo.weights.record import Weights


def cached_path(record: Weights) -> pathlib.Path:
    """Where the record's file lies once it is fetched: `<home>/weights/<name>/<file name>`."""
    return cvzoo_home() / "weights" / record.name / record.file_name


def is_cached(record: Weights) -> bool:
    """Whether a file of the right size lies there; its hash is checked when it is fetched."""
    path = cached_path(record)
    try:
        return path.is_file() and (record.size is None or path.stat().st_size == record.size)
    except OSError:
        return False
