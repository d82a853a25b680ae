"""The ranks of a job on this machine, started by mpiexec."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

from cvzoo.distributed.launching.ending import EndingRequest
from cvzoo.distributed.launching.engine import AbstractEngine, AbstractRanks, Start
from cvzoo.distributed.launching.mpi_launcher import find_mpi_launcher, mpi_process, thread_environment
from cvzoo.distributed.launching.node_ranks import Event, NodeRanks
from cvzoo.errors.exceptions import ConfigError

_FILES_OF_RANK = 3  # the pipes of its output and errors, its log
_FILES_OF_MPIEXEC = 10  # for each rank, roughly; it has the same limit
_OTHER_FILES = 64


def _allow_open_files(n: int) -> None:
    """Raises the limit of open files as far as n ranks need it. Raises ConfigError if it may not be raised so far."""
    needed = n * _FILES_OF_RANK + _OTHER_FILES
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = sys.maxsize if most == resource.RLIM_INFINITY else most
    if highest < needed:
        raise ConfigError(
            f"{n} ranks need {needed} open files, and the limit is {most}", hint="fewer ranks, or ulimit -n"
        )
    wanted = min(n * _FILES_OF_MPIEXEC + _OTHER_FILES, highest)
    if limit != resource.RLIM_INFINITY and limit < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


class LocalEngine(AbstractEngine):
    """Ranks on this machine. n: of the first attempt; least: with fewer it is not restarted

    Raises MissingExtraError without MPI, ConfigError if so many files may not be open.
    """

    def __init__(self, n: int, least: int = 1):
        self._launcher = find_mpi_launcher()
        _allow_open_files(n)
        self.planned, self._n, self._least = n, n, least

    def reserve(self, is_memory: bool, ending: EndingRequest, say: Callable[[str], None]) -> int | str:
        n = self._n - is_memory
        if n < self._least:
            return f"memory does not suffice for the least number of ranks, {self._least}"
        self._n = n
        return n

    @contextlib.contextmanager
    def start(self, job: str, start: Start) -> Iterator["LocalRanks"]:
        with NodeRanks(job, range(self._n)) as node:
            command = self._launcher.command(self._n, start.program)
            environment = {**os.environ, **thread_environment(self._n), **start.environment, **node.environment}
            with mpi_process(command, environment, node, signal.SIGTERM) as process:
                yield LocalRanks(node, process)

    def close(self) -> None:
        pass


class LocalRanks(AbstractRanks):
    """Ranks on this machine. process: of mpiexec"""

    def __init__(self, node: NodeRanks, process: "subprocess.Popen[bytes]"):
        self._node, self._process = node, process

    @property
    def has_killed_for_memory(self) -> bool:  # type: ignore[override]
        return self._node.has_killed_for_memory

    def poll(self) -> int | None:
        return self._process.poll()

    def read(self, seconds: float) -> list[Event]:
        return self._node.read(seconds)

    def signal(self, number: int, rank: int | None = None) -> None:
        self._node.signal(number, rank)

    def kill(self) -> list[str]:
        return [str(pid) for pid in self._node.kill()]
