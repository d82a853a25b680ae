"""What an actor of Ray executes on its machine for a job: MPI's proxy, and all that concerns its ranks."""

import importlib
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from cvzoo.distributed.launching.leftovers import end_with_parent
from cvzoo.distributed.launching.mpi_launcher import thread_environment
from cvzoo.distributed.launching.node_ranks import Event, NodeRanks

_PROXY = "hydra_pmi_proxy"


class Killed(NamedTuple):
    """The end of the ranks of a machine.

    left: ids of processes that cannot be killed; events: their last
    has_killed_for_memory: whether the kernel has killed a process for lack of memory
    """

    left: list[int]
    events: list[Event]
    has_killed_for_memory: bool


class RayAgent:
    """The agent of a job on one machine. Its processes end if the launcher has not asked for `silence` seconds."""

    def __init__(self, silence: float):
        self._silence = silence
        self._asked = time.monotonic()
        self._node: NodeRanks | None = None
        self._n = 0
        self._proxy: subprocess.Popen[bytes] | None = None
        os.environ.pop("OMP_NUM_THREADS", None)  # Ray sets it by the CPU cores of an actor
        for name in [name for name, value in os.environ.items() if name.endswith("_VISIBLE_DEVICES") and not value]:
            del os.environ[name]  # likewise, of an actor without GPUs
        threading.Thread(target=self._end_if_silent, daemon=True).start()

    def is_ready(self) -> bool:
        """True, as an answer."""
        return True

    def open(self, job: str, ranks: list[int]) -> None:
        """Prepares for these ranks of a job."""
        self._asked = time.monotonic()
        self._node = NodeRanks(job, ranks).__enter__()
        self._n = len(ranks)

    def start(self, command: str) -> None:
        """Executes a command that Hydra printed, which starts the ranks."""
        words = shlex.split(command)
        if os.path.basename(words[0]) != _PROXY:
            raise ValueError(f"not a command of Hydra: {command}")
        node = self._opened()
        self._proxy = subprocess.Popen(
            words,
            env={**without_ray(os.environ), **thread_environment(self._n), **node.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=partial(end_with_parent, signal.SIGKILL),
        )
        assert self._proxy.stdout is not None
        node.add(self._proxy.stdout)

    def read(self, seconds: float) -> list[Event]:
        """What happened to the ranks, or happens within `seconds`."""
        self._asked = time.monotonic()
        return self._opened().read(seconds)

    def signal(self, number: int, rank: int | None) -> None:
        """Sends a signal to the program of each rank that is running, or of one."""
        self._opened().signal(number, rank)

    def kill(self) -> Killed:
        """Kills all processes of the job."""
        self._asked = time.monotonic()
        node = self._opened()
        left = node.kill()
        events = []
        while more := node.read(0):
            events += more
        return Killed(left, events, node.has_killed_for_memory)

    def close(self) -> None:
        """Removes what is left."""
        node, self._node = self._opened(), None
        node.kill()
        if self._proxy is not None:
            self._proxy.wait()
        node.__exit__()

    def _opened(self) -> NodeRanks:
        assert self._node is not None, "the agent has not been opened"
        return self._node

    def _end_if_silent(self) -> None:
        """In a thread: a launcher that is gone, or behind a cut cable, cannot end what it started."""
        while time.monotonic() - self._asked < self._silence:
            time.sleep(1)
        if self._node is not None:
            self._node.kill()
            self._node.__exit__()
        os._exit(1)


def has_token_authentication() -> bool:
    """In a task of Ray: whether this machine's Ray refuses callers without the cluster's token."""
    module: Any = importlib.import_module("ray._raylet")
    return bool(module.get_authentication_mode() == module.AuthenticationMode.TOKEN)


def without_ray(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables without those of Ray: a program that has the cluster's token may run programs on all machines."""
    return {name: value for name, value in environment.items() if not name.startswith("RAY_")}
