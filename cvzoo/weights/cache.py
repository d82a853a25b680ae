"""Where downloaded files lie: `CVZOO_HOME`, or `cvzoo` in the user's cache directory."""

import os
import pathlib

from cvzoo.weights.record import Weights


def cvzoo_home() -> pathlib.Path:
    """The folder that holds everything cvzoo keeps between runs; it need not exist yet.

    `CVZOO_HOME` names it; else it is `cvzoo` below `XDG_CACHE_HOME`, or below `~/.cache`.
    """
    home = os.environ.get("CVZOO_HOME", "")
    if home:
        return pathlib.Path(home).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME", "")
    # the XDG rule: a relative path there is to be ignored
    base = pathlib.Path(cache) if os.path.isabs(cache) else pathlib.Path.home() / ".cache"
    return base / "cvzoo"


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
