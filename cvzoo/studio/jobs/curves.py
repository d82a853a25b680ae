"""The curves of a run: a series of values for each key of its logs."""

import dataclasses
import functools
import pathlib
import threading
from collections.abc import Iterable
from typing import Any

from cvzoo.studio.jobs.columns import X_KEYS, Columns
from cvzoo.studio.jobs.conductor import attempt_folder
from cvzoo.studio.jobs.json_file import open_regular
from cvzoo.studio.jobs.rows import Row, all_rows, end_of, parts_of, read_rows
from cvzoo.studio.jobs.run_record import ITERATIONS, LIVE, METRICS, number
from cvzoo.studio.jobs.thin import thinned
from cvzoo.studio.worker.attempt import USAGE

# rows every few seconds, means of few iterations, means of epochs; the source with the most values of a key is drawn
SOURCES = (LIVE, ITERATIONS, METRICS)

_MAX_BYTES = 1 << 30  # about ten million rows; of a longer log the end is drawn
_N_BEFORE = 1 << 10

USED = ("cpu", "memory", "read", "written")  # cores, bytes, and bytes per second, of the processes of a job


@dataclasses.dataclass(frozen=True)
class Offsets:
    """How far each source has been read, bytes."""

    values: tuple[int, ...] = (0,) * len(SOURCES)

    def __str__(self) -> str:
        return "-".join(map(str, self.values))


def parse_offsets(text: str) -> Offsets | None:
    """The offsets of `str(offsets)`; None if the text is malformed."""
    parts = text.split("-")
    if len(parts) != len(SOURCES) or not all(part.isdecimal() and len(part) < 16 for part in parts):
        return None
    return Offsets(tuple(map(int, parts)))


def read_curves(folder: pathlib.Path, n_point: int) -> tuple[list[dict[str, Any]], Offsets]:
    """The series of all keys, each of at most n_point points, and how far the files have been read.

    A series has key, source, iteration, epoch, elapsed_time and value, lists of one length, and n_gap: the number of
    values that were not finite. Not to be changed: the curves of the last few runs are kept until a file changes, and
    of a log that has grown only what is new is read.
    """
    return _curves(folder, n_point, tuple(_stamp(folder / source) for source in SOURCES))


_Stamp = tuple[int, int, int] | None


def _stamp(path: pathlib.Path) -> _Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


@functools.lru_cache(maxsize=8)
def _curves(folder: pathlib.Path, n_point: int, stamps: tuple[_Stamp, ...]) -> tuple[list[dict[str, Any]], Offsets]:
    found: dict[str, dict[str, Any]] = {}
    offsets = []
    for source, stamp in zip(SOURCES, stamps):
        log = _log(folder / source)
        with log.lock:
            offsets.append(log.read(stamp))
            for key in log.columns.keys:
                series = log.columns.series(key, n_point)
                if key not in found or len(series["value"]) > len(found[key]["value"]):
                    found[key] = {"key": key, "source": source, **series}
    return [found[key] for key in sorted(found)], Offsets(tuple(offsets))


class _Log:
    """What has been read of a log. lock: to hold by who reads on, or looks at the columns"""

    def __init__(self, path: pathlib.Path):
        self._path = path
        self.lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self.columns, self._offset = Columns(), end_of(self._path, _MAX_BYTES)
        self._known: tuple[int | None, bytes] | None = None  # inode, bytes before the offset

    def read(self, stamp: _Stamp) -> int:
        """Reads what was appended; returns the offset behind it. stamp: of the file, which another one may replace"""
        if self._known is None or self._known[0] != (stamp and stamp[0]) or self._known[1] != self._read_before():
            self._forget()
        self._known = None
        try:
            for rows, end in parts_of(self._path, self._offset):
                self.columns.add(rows)
                self._offset = end
        except EOFError:
            self._forget()
            return self.read(stamp)
        self._known = stamp and stamp[0], self._read_before()
        return self._offset

    def _read_before(self) -> bytes:
        """The last bytes before the offset: others if the file was cut off since, and written again."""
        try:
            with open_regular(self._path) as file:
                file.seek(max(self._offset - _N_BEFORE, 0))
                return file.read(min(self._offset, _N_BEFORE))
        except OSError:
            return b""


_log = functools.lru_cache(maxsize=3 * len(SOURCES))(_Log)


def read_more(folder: pathlib.Path, offsets: Offsets) -> tuple[dict[str, list[Row]], Offsets]:
    """The rows by source that were appended since, and the new offsets. Raises EOFError if a file was cut off."""
    found, ends = {}, []
    for source, offset in zip(SOURCES, offsets.values):
        rows, end = read_rows(folder / source, offset)
        ends.append(end)
        if rows:
            found[source] = rows
    return found, Offsets(tuple(ends))


def keys_of(rows: Iterable[Row]) -> list[str]:
    """The keys of values, in the order of their first rows."""
    return [key for key in dict.fromkeys(key for row in rows for key in row) if key not in X_KEYS]


def usage_curves(folder: pathlib.Path, attempt: int, n_point: int) -> list[dict[str, Any]]:
    """Of the processes of an attempt: series with key, elapsed_time and value, lists of one length."""
    rows, _ = all_rows(attempt_folder(folder, attempt) / USAGE)
    found = []
    for key in USED:
        known = [
            row for row in rows if number(row.get(key)) is not None and number(row.get("elapsed_time")) is not None
        ]
        kept = [known[i] for i in thinned([row["elapsed_time"] for row in known], [row[key] for row in known], n_point)]
        if kept:
            columns = {"elapsed_time": [row["elapsed_time"] for row in kept], "value": [row[key] for row in kept]}
            found.append({"key": key, **columns})
    return found
