"""The folder of cvzoo's downloads and caches: `CVZOO_HOME`, or `cvzoo` in the user's cache directory."""

import os
import pathlib


def cvzoo_home() -> pathlib.Path:
    """The folder for downloads and caches; it need not exist.

    `CVZOO_HOME`, or `cvzoo` below `XDG_CACHE_HOME` or `~/.cache`.
    """
    home = os.environ.get("CVZOO_HOME", "")
    if home:
        return pathlib.Path(home).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME", "")
    # the XDG specification: relative paths are to be ignored
    base = pathlib.Path(cache) if os.path.isabs(cache) else pathlib.Path.home() / ".cache"
    return base / "cvzoo"
