"""The runs below the watched folders, which the command line made; nothing is written to them."""

import dataclasses
import os
import pathlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from cvzoo.studio.ids import id_of_path
from cvzoo.studio.jobs.run_record import CONFIG, DATA, ITERATIONS, LIVE, METRICS, RunRecord, read_record
from cvzoo.studio.jobs.run_state import is_locked

_MAX_DEPTH, _MAX_FOLDERS = 8, 20_000
_FRESH_S = 2.0  # the folders are not walked more often, nor by a list those of runs that have ended
_ENDED = ("finished", "stopped", "failed")  # as their status files say, without a look at locks
_READ = (CONFIG, DATA, METRICS, ITERATIONS, LIVE, "status.json")


class WatchedRuns:
    """The runs below some folders; a record is read again only if its files have changed.

    roots: the folders
    clock: seconds
    is_truncated: whether a folder has more subfolders than are searched
    """

    def __init__(self, roots: Sequence[pathlib.Path], clock: Callable[[], float] = time.monotonic):
        self._roots = [root.absolute() for root in roots]
        self._clock = clock
        self._lock = threading.Lock()
        self._folders: dict[str, tuple[pathlib.Path, str]] = {}
        self._records: dict[str, tuple[tuple[int, ...], RunRecord]] = {}
        self._looked: dict[str, float] = {}
        self._walked: float | None = None
        self.is_truncated = False

    def records(self) -> list[RunRecord]:
        """All runs, running ones first, then those that changed last."""
        with self._lock:
            self._walk()
            ids = list(self._folders)
        found = [record for each in ids if (record := self._record(each, _FRESH_S)) is not None]
        return sorted(found, key=lambda record: (record.state != "running", -record.changed_at, record.name))

    def record(self, run_id: str) -> RunRecord | None:
        """The run with this identifier, as it is now; None if there is none, or not any more."""
        return self._record(run_id, 0.0)

    def _record(self, run_id: str, fresh_s: float) -> RunRecord | None:
        """The run. fresh_s: one that has ended is not looked at again within as many seconds"""
        with self._lock:
            if run_id not in self._folders:
                self._walk()
            if run_id not in self._folders:
                return None
            folder, name = self._folders[run_id]
            known, now = self._records.get(run_id), self._clock()
            has_ended = known is not None and known[1].state in _ENDED
            if known is not None and has_ended and now - self._looked[run_id] < fresh_s:
                return known[1]
            self._looked[run_id] = now
        # whether a process lives, no file shows; of what has ended, its status file says if it is resumed
        lock = 0 if has_ended else {None: -1, False: 0, True: 1}[is_locked(folder)]
        marks = (*marks_of(folder), lock)
        if known is not None and known[0][:-1] == marks[:-1] and (has_ended or known[0] == marks):
            return known[1]
        if marks[0] == 0 and not folder.is_dir():
            return None
        record = read_record(folder, run_id, name)
        if known is not None and dataclasses.replace(record, seconds_left=None) == dataclasses.replace(
            known[1], seconds_left=None
        ):
            record = known[1]
        with self._lock:
            self._records[run_id] = marks, record
        return record

    def _walk(self) -> None:
        now = self._clock()
        if self._walked is not None and now - self._walked < _FRESH_S:
            return
        self._walked = now
        found: dict[str, tuple[pathlib.Path, str]] = {}
        self.is_truncated = False
        for root in self._roots:
            budget = [_MAX_FOLDERS]
            for folder in _run_folders(root, 0, budget):
                relative = folder.relative_to(root).as_posix()
                name = root.name if relative == "." else relative
                found[id_of_path("wr", os.path.realpath(folder))] = folder, name
            self.is_truncated |= budget[0] <= 0
        self._folders = found
        self._records = {key: value for key, value in self._records.items() if key in found}
        self._looked = {key: value for key, value in self._looked.items() if key in found}


def _run_folders(folder: pathlib.Path, depth: int, budget: list[int]) -> Iterator[pathlib.Path]:
    """The run folders below, without hidden folders and links to folders; a run's own subfolders are not searched."""
    budget[0] -= 1
    if budget[0] < 0:
        return
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    names = {entry.name for entry in found}
    if CONFIG in names and METRICS in names:
        yield folder
    elif depth < _MAX_DEPTH:
        for entry in found:
            if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                yield from _run_folders(pathlib.Path(entry.path), depth + 1, budget)


def marks_of(folder: pathlib.Path) -> tuple[int, ...]:
    """What changes if one of a run's files does: their times and sizes."""
    marks: list[int] = []
    path = os.fspath(folder)
    for name in _READ:
        try:
            found = os.stat(f"{path}/{name}")
            marks += [found.st_mtime_ns, found.st_size]
        except OSError:
            marks += [0, 0]
    return tuple(marks)
