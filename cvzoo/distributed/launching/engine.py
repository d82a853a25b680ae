"""What starts the ranks of a job and reaches them, on one machine or many: one supervisor watches them by this."""

import abc
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from cvzoo.distributed.launching.ending import EndingRequest
from cvzoo.distributed.launching.node_ranks import Event


class Start(NamedTuple):
    """What the ranks of an attempt execute.

    program: words of a rank's command; environment: additional variables
    """

    program: list[str]
    environment: dict[str, str]


class AbstractRanks(abc.ABC):
    """The ranks of an attempt, which have been started; as a context manager it leaves none of them.

    has_killed_for_memory: whether the kernel of a machine has killed a process for lack of memory
    """

    has_killed_for_memory: bool

    @abc.abstractmethod
    def poll(self) -> int | None:
        """The exit status of mpiexec, None while it runs."""

    @abc.abstractmethod
    def read(self, seconds: float) -> list[Event]:
        """What happened, or happens within `seconds`: events of `NodeRanks`, and "lost" machines, with the reason."""

    @abc.abstractmethod
    def signal(self, number: int, rank: int | None = None) -> None:
        """Sends a signal to the program of each rank that is running, or of one."""

    @abc.abstractmethod
    def kill(self) -> list[str]:
        """Kills all processes of the attempt; returns those that are left, in words."""


class AbstractEngine(abc.ABC):
    """Where the ranks of a job run.

    planned: number of ranks that it is planned for; ranks after a restart may be fewer
    """

    planned: int

    @abc.abstractmethod
    def reserve(self, is_memory: bool, ending: EndingRequest, say: Callable[[str], None]) -> int | str:
        """The number of ranks of the next attempt, for which there is room, or the reason why there is none.

        is_memory: whether memory was exhausted by the last attempt, so that fewer ranks may fit
        """

    @abc.abstractmethod
    def start(self, job: str, start: Start) -> AbstractContextManager[AbstractRanks]:
        """Starts the ranks that were reserved. job: identifies their processes"""

    @abc.abstractmethod
    def close(self) -> None:
        """Releases what was reserved."""


def ranks_in_words(n: int) -> str:
    return f"{n} {'rank' if n == 1 else 'ranks'}"
