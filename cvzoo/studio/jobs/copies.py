"""Jobs that are made of an ended one: what their folders begin with, and whether a repetition has the same bits."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any

from cvzoo.files.atomic_write import atomic_write
from cvzoo.studio.jobs.files import KEPT
from cvzoo.studio.jobs.json_file import open_regular, read_json_object
from cvzoo.studio.worker.attempt import kept_environment

_OWN = ("job.json", "about.json", "compared.json", "attempts", KEPT)  # of a job, not of its run
# replaced when they are written again, never changed: a second name of the file is enough
_STATES = (".npz", ".safetensors")
_COMPARED = "compared.json"
_TIMEOUT_S = 120


def has_snapshot(run: pathlib.Path) -> bool:
    """Whether a training can be resumed from the folder."""
    return (run / "config.json").is_file() and any(run.glob("snapshot_iter_*.npz"))


def copy_run(source: pathlib.Path, target: pathlib.Path) -> None:
    """Fills a job's folder with the run of another one, without links that its job may have left there. Raises OSError.

    config.json is the last one, as it makes the folder a run.
    """
    files = [path for path in _files_below(source) if path.name != "config.json" or path.parent != source]
    for path in [*files, source / "config.json"]:
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in _STATES:
            with contextlib.suppress(OSError):  # another file system
                os.link(path, copy, follow_symlinks=False)
                continue
        with open_regular(path) as file, open(copy, "wb") as out:
            shutil.copyfileobj(file, out)


def _files_below(source: pathlib.Path) -> list[pathlib.Path]:
    found = []
    for root, folders, names in os.walk(source):
        if pathlib.Path(root) == source:
            folders[:] = [name for name in folders if name not in _OWN]
            names = [name for name in names if name not in _OWN]
        paths = [pathlib.Path(root, name) for name in names]
        found += [path for path in paths if path.is_file() and not path.is_symlink()]
    return sorted(found)


def comparison(origin: pathlib.Path, run: pathlib.Path) -> dict[str, Any]:
    """{"is_same", "text"} of a finished repetition by the rule of `cvzoo rerun`; {} if they could not be compared.

    It is made once, by a process of its own, and kept in the folder of the repetition.
    """
    known = read_json_object(run / _COMPARED)
    if isinstance(known.get("is_same"), bool) and isinstance(known.get("text"), str):
        return known
    words = ["rerun", str(origin), "--out", str(run), "--compare"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "cvzoo", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            env=kept_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {}
    verdict, *lines = done.stdout.decode("utf-8", "replace").splitlines() or [""]
    if done.returncode not in (0, 1) or not verdict:  # it failed, and says nothing of the bits
        return {}
    found = {"is_same": done.returncode == 0, "text": "\n".join(line.strip() for line in lines)[:2000]}
    with atomic_write(run / _COMPARED) as file:
        file.write(json.dumps(found).encode())
    return found
