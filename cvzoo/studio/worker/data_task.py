"""Work on a data set in a process of its own: `python -m cvzoo.studio.worker.data_task FOLDER`.

FOLDER has order.json, and items.jsonl of an existing data set. The process holds a lock on it for as long as it lives,
and ends by writing result.json, {"error": ...} if the work cannot be done, with "may_pass" if the data are not why. It
may be killed and started again.

Archives and annotations may be hostile: it writes only FOLDER, the images and the version, has no network and 16 GB of
memory, and reads, next to the program, only these and the uploads, unless an administrator names a folder to import.
"""

import errno
import fcntl
import json
import os
import pathlib
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from cvzoo.errors.exceptions import CvzooError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.studio.worker.add_data import add_data
from cvzoo.studio.worker.check_data import check_lines, write_findings
from cvzoo.studio.worker.import_data import import_data
from cvzoo.studio.worker.landlock import restrict
from cvzoo.studio.worker.limits import limit
from cvzoo.studio.worker.make_archive import make_archive
from cvzoo.studio.worker.make_version import make_version
from cvzoo.studio.worker.rights import program, secrets

ORDER, ITEMS, RESULT, PROGRESS, LOCK = "order.json", "items.jsonl", "result.json", "progress.json", "lock"
FINDINGS = "findings.jsonl"
STARTED = "started"  # is there from the first step on, until the server has counted the attempt
KEPT = "reading images"  # the phase whose work the next attempt finds done
_EVERY_S = 0.5
_MEMORY = 16 << 30  # of addresses, of which a data set of 100,000 images uses a fraction
_N_TASK = 1024
_NICE = 10  # pages and edits come first


class Progress:
    """Writes how far a task is, at most twice a second."""

    def __init__(self, folder: pathlib.Path):
        self._path, self._at, self._reached = folder / PROGRESS, 0.0, 0

    def __call__(self, phase: str, done: int = 0, total: int = 0) -> None:
        """phase: in words; done, total: images"""
        if phase == KEPT:
            self._reached = done
        now = time.monotonic()
        if now - self._at >= _EVERY_S or done == 0:
            self._at = now
            part = self._path.with_name(f".{PROGRESS}.part")
            part.write_text(json.dumps({"phase": phase, "done": done, "total": total, "reached": self._reached}))
            os.replace(part, self._path)


_Work = Callable[[Mapping[str, Any], pathlib.Path, Progress], dict[str, Any]]


def _import(order: Mapping[str, Any], folder: pathlib.Path, progress: Progress) -> dict[str, Any]:
    return import_data(order, folder, progress)


def _add(order: Mapping[str, Any], folder: pathlib.Path, progress: Progress) -> dict[str, Any]:
    return add_data(order, folder, progress)


def _check(order: Mapping[str, Any], folder: pathlib.Path, progress: Progress) -> dict[str, Any]:
    progress("checking")
    write_findings(folder / FINDINGS, check_lines(order, folder / ITEMS, progress))
    return {}


def _version(order: Mapping[str, Any], folder: pathlib.Path, progress: Progress) -> dict[str, Any]:
    return make_version(order, folder / ITEMS, folder / FINDINGS, progress)


def _layout(order: Mapping[str, Any], folder: pathlib.Path, progress: Progress) -> dict[str, Any]:
    return make_archive(order["asked"], folder, progress)


_WORK: Mapping[str, _Work] = {
    "import": _import,
    "add": _add,
    "check": _check,
    "version": _version,
    "layout": _layout,
}


def _order_of(folder: pathlib.Path) -> dict[str, Any]:
    order: dict[str, Any] = json.loads((folder / ORDER).read_text(encoding="utf-8"))
    # a task that an older server left says nothing of it
    return {"kept": str(folder / "looks.json")} | order


def confine(folder_name: str) -> str:
    """Gives up all rights that the task does not need; returns what keeps them, in words."""
    folder = pathlib.Path(folder_name)
    os.nice(_NICE)
    limit(memory=_MEMORY, n_task=_N_TASK)
    order = _order_of(folder)
    asked = order.get("asked", {})  # of an archive: a version's folder, and where it is written
    written = [order["kept"], *(tree["out"] for tree in (order, asked) if "out" in tree)]
    own = [str(folder), order["images"], *(str(pathlib.Path(each).parent) for each in written)]
    uploads = [each["path"] for each in order["source"].get("uploads", ())]
    # the folder of a specification may have links to others
    is_elsewhere = order["kind"] in ("import", "add") and "spec" in order["source"]
    readable = None if is_elsewhere else [*program(), *own, *uploads, *([asked["folder"]] if "folder" in asked else [])]
    return restrict(
        readable=readable,
        writable=[*own, "/dev/null"],
        network=False,
        hidden=[*order["hidden"], *secrets()],
    )


def _without_folders(text: str, folder: pathlib.Path, order: Mapping[str, Any]) -> str:
    """The text of an error, which users read, with their names of uploads and without paths of the studio's folder."""
    names = {
        f"{folder}/{part}{end}": word for end, word in (("/", ""), ("", "upload")) for part in ("unpacked", "data")
    }
    names |= {each["path"]: each["name"] for each in order["source"].get("uploads", ())}
    for path, name in (names | {f"{folder}/": "", f"{folder.parent.parent}/": ""}).items():
        text = text.replace(path, name)
    return text


def main(folder_name: str) -> int:
    """0 after the result was written; 1 if another process works on it, or has."""
    folder = pathlib.Path(folder_name)
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 1
    if (folder / RESULT).exists():
        return 1
    (folder / STARTED).touch()
    order = _order_of(folder)
    try:
        result = _WORK[order["kind"]](order, folder, Progress(folder))
    except CvzooError as error:
        result = {"error": "; ".join(" ".join(line.split()) for line in str(error).splitlines())}
    except OSError as error:
        words = f"{error.filename or 'a file'}: {error.strerror or error}"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            words = "the disk is full; it can be repeated when there is room"
            shutil.rmtree(folder / "unpacked", ignore_errors=True)  # so that there is room to say so
        result = {"error": words, "may_pass": True}
    except MemoryError:
        result = {"error": "there is not enough memory for the data set's annotations"}
    except Exception as error:
        traceback.print_exc()
        result = {"error": f"{type(error).__name__}: {error}", "may_pass": True}
    if "error" in result:
        result["error"] = _without_folders(result["error"], folder, order)
    with atomic_write(folder / RESULT) as file:
        file.write(json.dumps(result).encode())
    os.close(descriptor)
    return 0


if __name__ == "__main__":
    confine(sys.argv[1])
    sys.exit(main(sys.argv[1]))
