"""What a rank does when, in Chrome's trace format: computation, communication, and waiting for it."""

import contextlib
import itertools
import json
import os
import pathlib
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from cvzoo.errors.exceptions import FileFormatError

FOLDER = "CVZOO_LAUNCH_TIMELINE"  # environment variable of `cvzoo launch --timeline`: where ranks write
_MOST = 200_000  # events of a rank, 20 MB
Kind = Literal["compute", "wire", "wait"]


class Timeline:
    """A file of the events of one rank, which is complete up to the last `flush` if the process is killed.

    `chrome://tracing` and Perfetto show such files. The ranks of one machine have the same clock.
    """

    def __init__(self, path: pathlib.Path, rank: int):
        self._file = open(path, "x", encoding="utf-8")  # noqa: SIM115, as long as the process
        self._rank, self._n = rank, 0
        self._lock = threading.Lock()
        self._write({"name": "process_name", "ph": "M", "args": {"name": f"rank {rank}"}}, head="[\n")

    def add(self, kind: Kind, name: str, begin: float, end: float) -> None:
        """Adds an event from `begin` to `end`, seconds of `time.perf_counter`."""
        if self._n < _MOST:
            thread = {"compute": 0, "wait": 0, "wire": 1}[kind]
            times = {"ts": round(begin * 1e6, 1), "dur": round((end - begin) * 1e6, 1)}
            self._write({"name": name, "cat": kind, "ph": "X", "tid": thread, **times})

    @contextlib.contextmanager
    def span(self, kind: Kind, name: str) -> Iterator[None]:
        """A block that is an event."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.add(kind, name, begin, time.perf_counter())

    def flush(self) -> None:
        """Writes what has been added to the file."""
        with self._lock:
            self._file.flush()

    def close(self) -> None:
        """Ends the file."""
        with self._lock:
            self._file.close()

    def _write(self, event: dict[str, Any], head: str = "") -> None:
        with self._lock:
            self._n += 1
            # a trace may lack its closing bracket
            self._file.write(f"{head}{json.dumps({**event, 'pid': self._rank})},\n")


def open_timeline(rank: int) -> Timeline | None:
    """A new timeline of this rank if `cvzoo launch --timeline` wants one, else None. Raises OSError."""
    folder = os.environ.get(FOLDER)
    if folder is None:
        return None
    for number in itertools.count():
        try:
            return Timeline(pathlib.Path(folder, f"timeline-{rank}-{number}.json"), rank)
        except FileExistsError:  # of another optimizer of this rank
            continue
    raise AssertionError


class TimelineSummary(NamedTuple):
    """Seconds of a rank in all. wire: of communication; exposed: of it while the rank waited; compute: of the rest"""

    compute: float
    wire: float
    exposed: float

    @property
    def hidden(self) -> float:
        """Fraction of the communication that was hidden behind computation."""
        return 1 - self.exposed / self.wire if self.wire else 1.0


def read_events(path: pathlib.Path) -> list[dict[str, Any]]:
    """The events of a timeline, without a last line that is truncated. Raises FileFormatError for other files."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or lines[0] != "[":
        raise FileFormatError(f"{path} is not a timeline of a rank")
    events = []
    for line in lines[1:]:
        try:
            events.append(json.loads(line.rstrip(",")))
        except ValueError:
            break
    return events


def summarize(events: Iterable[dict[str, Any]]) -> TimelineSummary:
    """The sums of one rank's events; messages that are sent at the same time count once."""
    spans: dict[str, list[tuple[float, float]]] = {"compute": [], "wire": [], "wait": []}
    for each in events:
        if each["ph"] == "X":
            spans[each["cat"]].append((each["ts"] / 1e6, (each["ts"] + each["dur"]) / 1e6))
    wire, wait = _union(spans["wire"]), _union(spans["wait"])
    exposed = sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a, b in _meeting(wire, wait))
    return TimelineSummary(_length(_union(spans["compute"])), _length(wire), exposed)


def _union(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    joined: list[tuple[float, float]] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined


def _length(spans: list[tuple[float, float]]) -> float:
    return sum(end - begin for begin, end in spans)


def _meeting(
    first: list[tuple[float, float]], second: list[tuple[float, float]]
) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Pairs of spans of two sorted lists that may overlap."""
    i = j = 0
    while i < len(first) and j < len(second):
        yield first[i], second[j]
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
