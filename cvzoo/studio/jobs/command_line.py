"""The shell command by which a run was started."""

import pathlib
import shlex
from typing import Any


def command_line(config: dict[str, Any], folder: pathlib.Path, *, absolute: bool = False) -> str:
    """The command, as typed into a shell in the folder where it was started; "" if it is not known.

    config: of config.json; folder: of the run
    absolute: name the run's folder by its whole path, so that the command works in any folder
    """
    tree = config.get("command")
    if not isinstance(tree, dict) or not isinstance(tree.get("arguments"), list):
        return ""
    started_in = pathlib.Path(folder, str(tree.get("folder") or "."))
    try:
        out = str(folder) if absolute else folder.resolve().relative_to(started_in.resolve()).as_posix()
    except (ValueError, OSError):
        out = str(folder)
    words = [str(each).replace("{out}", out) for each in tree["arguments"]]
    if tree.get("module"):
        module = str(tree["module"])
        return shlex.join(["cvzoo", *words] if module == "cvzoo" else ["python", "-m", module, *words])
    return shlex.join(["python", str(tree["script"]), *words]) if tree.get("script") else ""
