"""The ranks of one machine: their output and ends are read, signals passed on, and nothing of them is left behind."""

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Iterable
from typing import IO, Any

from cvzoo.distributed.launching.leftovers import MARK, kill_processes, remove_shared_memory, shared_memory
from cvzoo.distributed.launching.memory_kills import memory_kills
from cvzoo.distributed.launching.rank_output import RankPipes
from cvzoo.reporting.sign_of_life import FOLDER

# what happened to a rank: {"rank": 0, "event": "started", ...}, ready for msgpack
Event = dict[str, Any]


class NodeRanks:
    """Context manager of the ranks on this machine, which are processes with its `environment` below a keeper.

    job: identifies their processes
    Its events are those of the keepers ("started", "stopped", "continued", "ended"), "output" with data and whether it
    is of standard error, and "alive" with the step of a sign of life, None for unknown. "said" is no rank's.
    """

    def __init__(self, job: str, ranks: Iterable[int]):
        self._job, self._ranks = job, tuple(ranks)
        self._events: list[Event] = []
        self._running: dict[int, int] = {}  # rank -> id of the process
        self._beats = dict.fromkeys(self._ranks, 0)  # modification times of their files
        self._opened = contextlib.ExitStack()

    def __enter__(self) -> "NodeRanks":
        self._segments, self._kills = shared_memory(), memory_kills()
        with contextlib.ExitStack() as opened:
            self._folder = pathlib.Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="cvzoo-launch-")))
            for rank in self._ranks:
                (self._folder / f"alive-{rank}").touch()
            self._pipes = opened.enter_context(RankPipes(self._folder, self._ranks, self._on_event, self._on_output))
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()
        remove_shared_memory(self._segments)

    @property
    def environment(self) -> dict[str, str]:
        """Variables by which keepers and ranks find the pipes, and are found."""
        return {MARK: self._job, FOLDER: os.fspath(self._folder)}

    def add(self, file: IO[bytes]) -> None:
        """Reads the output of a process of MPI, too, for events "said"."""
        self._pipes.add(file, lambda data: self._events.append({"event": "said", "data": data}))

    def read(self, seconds: float) -> list[Event]:
        """What happened, or happens within `seconds`."""
        if self._pipes.read(seconds):
            while len(self._events) < 1000 and self._pipes.read(0):
                pass
        self._look_for_life()
        events, self._events = self._events, []
        return events

    def signal(self, number: int, rank: int | None = None) -> None:
        """Sends a signal to the program of each rank that is running, or of one."""
        for each, pid in self._running.items():
            if rank is None or each == rank:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass

    def kill(self) -> list[int]:
        """Kills all processes of the job; returns the ids of those that are left."""
        return kill_processes(self._job)

    @property
    def has_killed_for_memory(self) -> bool:
        """Whether the kernel has killed a process for lack of memory meanwhile."""
        return memory_kills() > self._kills

    def _look_for_life(self) -> None:
        for rank in self._ranks:
            path = self._folder / f"alive-{rank}"
            beat = path.stat().st_mtime_ns
            if beat != self._beats[rank]:
                self._beats[rank] = beat
                text = path.read_text().strip()
                self._events.append({"rank": rank, "event": "alive", "step": int(text) if text else None})

    def _on_event(self, event: Event) -> None:
        if event["event"] == "started":
            self._running[event["rank"]] = event["pid"]
        elif event["event"] == "ended":
            self._running.pop(event["rank"], None)
            self._look_for_life()  # its last step, before its end
        self._events.append(event)

    def _on_output(self, rank: int, data: bytes, is_error: bool) -> None:
        self._events.append({"rank": rank, "event": "output", "data": data, "is_error": is_error})
