"""The ranks of a job on machines of a Ray cluster: MPI's processes are started by agents, without ssh."""

import contextlib
import dataclasses
import math
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

from cvzoo.distributed.launching.ending import EndingRequest
from cvzoo.distributed.launching.engine import AbstractEngine, AbstractRanks, Start, ranks_in_words
from cvzoo.distributed.launching.leftovers import MARK
from cvzoo.distributed.launching.mpi_launcher import find_mpi_launcher, mpi_process
from cvzoo.distributed.launching.node_ranks import Event, NodeRanks
from cvzoo.distributed.launching.ray_agent import Killed, without_ray
from cvzoo.distributed.launching.ray_cluster import Machine, RayCluster, Reserved, said_by
from cvzoo.errors.exceptions import BackendError

_READ = 0.2  # seconds in which an agent waits for events; an answer without any is a sign of life of the machine
_LAUNCH = b"HYDRA_LAUNCH:"
_NEXT_LOOK = 0.5  # seconds until machines are looked for again


class RayEngine(AbstractEngine):
    """Ranks on `least` to `most` machines of a Ray cluster, `per_node` on each of them.

    timeout: seconds without an answer after which a machine is lost
    patience: seconds to wait for machines, 0: forever
    Raises MissingExtraError without MPI or Ray; BackendError without MPICH, or a cluster; ConfigError if that accepts
    programs without a token.
    """

    def __init__(self, least: int, most: int, per_node: int, *, timeout: float, patience: float):
        self._launcher = find_mpi_launcher()
        if self._launcher.kind != "mpich":
            raise BackendError(
                "ranks on machines of a Ray cluster need MPICH's mpiexec",
                got=f"{self._launcher.path} ({self._launcher.version})",
                hint='pip install "cvzoo[cluster]"',
            )
        self._least, self._most, self._per_node = least, most, per_node
        self.planned = most * per_node
        self._timeout, self._patience = timeout, patience or math.inf
        self._cluster = RayCluster()
        self._reserved: list[Reserved] = []

    def reserve(self, is_memory: bool, ending: EndingRequest, say: Callable[[str], None]) -> int | str:
        self._per_node -= is_memory
        if not self._per_node:
            return "memory does not suffice for one rank on each machine"
        end = time.monotonic() + self._patience
        told = ""
        while not ending.count:
            found = self._reserve(self._cluster.machines())
            if not isinstance(found, str):
                self._reserved = found
                names = ", ".join(each.machine.name for each in found)
                say(f"{ranks_in_words(self._per_node)} on each of {len(found)} machines: {names}")
                return len(found) * self._per_node
            if time.monotonic() > end:
                return found
            if found != told:
                told = found
                say(f"waiting for machines: {found}")
            ending.wait(_NEXT_LOOK)
        return "interrupted while waiting for machines"

    def _reserve(self, machines: list[Machine]) -> list[Reserved] | str:
        """As many machines as possible, or why there are too few."""
        fitting = [each for each in machines if each.cores >= self._per_node]
        # a GPU for each rank, where all machines have so many
        gpus = self._per_node * all(each.gpus >= self._per_node for each in fitting)
        found: list[Reserved] | str = (
            f"{self._least} with {self._per_node} CPU cores each are needed, and there are "
            + (", ".join(f"{each.name} ({each.cores})" for each in machines) or "none")
        )
        for k in range(min(len(fitting), self._most), self._least - 1, -1):
            found = self._cluster.reserve(k, self._per_node, gpus, silence=2 * self._timeout)
            if not isinstance(found, str):
                break
        return found

    @contextlib.contextmanager
    def start(self, job: str, start: Start) -> Iterator["RayRanks"]:
        command = self._launcher.command_for_agents(
            self._cluster.address, len(self._reserved), self._per_node, start.program
        )
        environment = {**without_ray(os.environ), **start.environment, MARK: job}
        with NodeRanks(job, ()) as home, mpi_process(command, environment, home, signal.SIGKILL) as process:
            ranks = RayRanks(self._cluster, self._reserved, home, process, self._timeout)
            try:
                ranks.open(job, self._per_node)
                yield ranks
            finally:
                ranks.close()

    def close(self) -> None:
        self._cluster.close()


@dataclasses.dataclass
class _Agent:
    machine: Machine
    handle: Any
    answered: float  # by the monotonic clock
    reading: Any = None  # the call that is under way
    is_lost: bool = False


class RayRanks(AbstractRanks):
    """Ranks on machines of a Ray cluster. home: of mpiexec, whose process runs on this machine

    timeout: seconds without an answer after which a machine is lost
    """

    def __init__(
        self,
        cluster: RayCluster,
        reserved: list[Reserved],
        home: NodeRanks,
        process: "subprocess.Popen[bytes]",
        timeout: float,
    ):
        self._cluster, self._ray = cluster, cluster.ray
        self._home, self._process, self._timeout = home, process, timeout
        now = time.monotonic()
        self._agents = [_Agent(each.machine, each.agent, now) for each in reserved]
        self._homes: dict[int, _Agent] = {}  # by rank
        self._events: list[Event] = []
        self._said = b""
        self._n_started = 0
        self.has_killed_for_memory = False

    def open(self, job: str, per_node: int) -> None:
        """Prepares the agents for `per_node` ranks each."""
        refs = {}
        for index, each in enumerate(self._agents):
            ranks = list(range(index * per_node, (index + 1) * per_node))
            self._homes |= dict.fromkeys(ranks, each)
            refs[each.handle.open.remote(job, ranks)] = each
        self._answers(refs)

    def poll(self) -> int | None:
        return self._process.poll()

    def read(self, seconds: float) -> list[Event]:
        self._read_home()
        refs = {}
        for each in self._agents:
            if not each.is_lost:
                each.reading = each.reading or each.handle.read.remote(_READ)
                refs[each.reading] = each
        if not refs:
            time.sleep(seconds)
            return self._taken()
        self._ray.wait(list(refs), timeout=seconds)
        ready, _ = self._ray.wait(list(refs), num_returns=len(refs), timeout=0)
        for ref in ready:
            refs[ref].reading = None
            self._events += self._answer(refs[ref], ref) or []
        now = time.monotonic()
        for each in self._agents:
            if not each.is_lost and now - each.answered > self._timeout:
                self._lose(each, f"it has not answered for {self._timeout:g} s")
        return self._taken()

    def signal(self, number: int, rank: int | None = None) -> None:
        for each in self._agents if rank is None else [self._homes[rank]]:
            if not each.is_lost:
                each.handle.signal.remote(number, rank)

    def kill(self) -> list[str]:
        self._home.kill()
        self._read_home()
        refs = {each.handle.kill.remote(): each for each in self._agents if not each.is_lost}
        left = []
        for each, killed in self._answers(refs):
            assert isinstance(killed, Killed)
            self._events += killed.events
            self.has_killed_for_memory |= killed.has_killed_for_memory
            left += [f"{pid} on {each.machine.name}" for pid in killed.left]
        return left

    def close(self) -> None:
        """Removes what is left on the machines."""
        self._answers({each.handle.close.remote(): each for each in self._agents if not each.is_lost})

    def _read_home(self) -> None:
        """Takes what mpiexec prints: commands for the agents, and else what is for the log."""
        for event in self._home.read(0):
            *lines, self._said = (self._said + event["data"]).split(b"\n")
            for line in lines:
                if line.startswith(_LAUNCH):
                    agent = self._agents[self._n_started]
                    self._n_started += 1
                    if not agent.is_lost:
                        agent.handle.start.remote(line.removeprefix(_LAUNCH).decode().strip())
                elif not line.startswith(_LAUNCH[:-1]):
                    self._events.append({"event": "said", "data": line + b"\n"})

    def _taken(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    # --- answers ------------------------------------------------------------------------------------------------------
    def _answers(self, refs: dict[Any, _Agent]) -> list[tuple[_Agent, Any]]:
        """What the agents answer; machines that do not are lost."""
        if not refs:
            return []
        self._ray.wait(list(refs), num_returns=len(refs), timeout=self._timeout)
        found = [(each, self._answer(each, ref)) for ref, each in refs.items()]
        return [(each, answer) for each, answer in found if not each.is_lost]

    def _answer(self, agent: _Agent, ref: Any) -> Any:
        """What one agent answers to a call; None if its machine is lost."""
        errors = self._ray.exceptions
        try:
            answer = self._ray.get(ref, timeout=0)
        except errors.GetTimeoutError:
            self._lose(agent, f"it has not answered for {self._timeout:g} s")
        except errors.OutOfMemoryError as error:
            self._lose(agent, f"it ran out of memory: {said_by(error)}", is_memory=True)
        except errors.RayActorError:
            self._lose(agent, "it has left the cluster, or the agent there was killed")
        except errors.RayError as error:
            self._lose(agent, said_by(error))
        else:
            agent.answered = time.monotonic()
            return answer
        return None

    def _lose(self, agent: _Agent, why: str, is_memory: bool = False) -> None:
        if not agent.is_lost:
            agent.is_lost, agent.reading = True, None
            self._cluster.silent.add(agent.machine.id)
            ranks = ", ".join(str(rank) for rank, each in self._homes.items() if each is agent)
            reason = f"machine {agent.machine.name} with ranks {ranks} is lost: {why}"
            self._events.append({"event": "lost", "reason": reason, "is_memory": is_memory})
