"""Where cvzoo keeps what it wants to find again: `CVZOO_HOME`, or `cvzoo` in the user's cache directory."""

import os
import pathlib


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
