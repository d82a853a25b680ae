"""The machines of a Ray cluster: which there are, and reserving some of them, each with an agent."""

import contextlib
import importlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

from cvzoo.distributed.launching.ray_agent import RayAgent, has_token_authentication
from cvzoo.errors.exceptions import BackendError, ConfigError, MissingExtraError

_MODE = "RAY_AUTH_MODE"
_READY = 10.0  # seconds for a placement group
_AGENT = 60.0  # seconds for the start of an agent's process
_ANSWER = 5.0  # seconds for a machine that was silent
_NODE_ID = "ray.io/node-id"


class Machine(NamedTuple):
    """A machine of the cluster. id: Ray's; name: its address, for messages; cores: CPU cores; gpus: their number"""

    id: str
    name: str
    cores: int
    gpus: int


class Reserved(NamedTuple):
    """A machine that is reserved. agent: the handle of its RayAgent"""

    machine: Machine
    agent: Any


class RayCluster:
    """The cluster of the environment variable RAY_ADDRESS, or that of this machine.

    silent: ids of machines that did not answer, which are left out until they do
    Raises MissingExtraError without Ray, BackendError without a cluster, ConfigError if it takes calls without a token.
    """

    def __init__(self) -> None:
        try:
            self.ray: Any = importlib.import_module("ray")
        except ImportError as error:
            raise MissingExtraError("Ray is not installed", hint='pip install "cvzoo[cluster]"') from error
        if os.environ.setdefault(_MODE, "token") != "token":
            raise ConfigError(
                f"{_MODE} is {os.environ[_MODE]}, and a Ray cluster without tokens runs the programs of all callers",
                hint=f"{_MODE}=token on all machines, and a token by `ray get-auth-token --generate`",
            )
        self.silent: set[str] = set()
        self._group: Any = None
        self._reserved: list[Reserved] = []
        self._is_connected_here = not self.ray.is_initialized()
        if self._is_connected_here:
            self._connect()
        self._check_tokens()

    def _connect(self) -> None:
        with _own_signals():
            try:
                self.ray.init(
                    address=os.environ.get("RAY_ADDRESS", "auto"), log_to_driver=False, logging_level="critical"
                )
            except (ConnectionError, ValueError, self.ray.exceptions.RayError) as error:
                first = str(error).strip().splitlines()[0]
                raise BackendError(
                    f"no Ray cluster can be joined: {first}",
                    hint="`ray start --head` on one machine, `ray start --address HOST:PORT` on the others, with "
                    f"{_MODE}=token and the same token",
                ) from error

    def _check_tokens(self) -> None:
        """Raises ConfigError if the cluster accepts calls without a token, as Ray's own client does not tell."""
        here = self.ray.get_runtime_context().get_node_id()
        # a task: actors cannot be started by such a cluster, for which the caller here has no token either
        if not self.ray.get(self._token_task(here), timeout=_AGENT):
            raise ConfigError(
                "this Ray cluster accepts programs of all callers, without a token",
                hint=f"start it with {_MODE}=token and a token by `ray get-auth-token --generate`",
            )

    def _token_task(self, node_id: str) -> Any:
        task = self.ray.remote(num_cpus=0, max_retries=0)(has_token_authentication)
        return task.options(scheduling_strategy=self._on(node_id)).remote()

    @property
    def address(self) -> str:
        """This machine's address, for the others."""
        return str(self.ray.util.get_node_ip_address())

    def _agent_class(self) -> Any:
        # no new process in place of one that ended: its ranks have ended with it
        return self.ray.remote(num_cpus=0, max_restarts=0)(RayAgent)

    def _on(self, node_id: str) -> Any:
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        return strategies.NodeAffinitySchedulingStrategy(node_id, soft=False)

    def machines(self) -> list[Machine]:
        """All machines that are in the cluster, except silent ones."""
        found = [
            Machine(
                each["NodeID"], each["NodeManagerAddress"], *(int(each["Resources"].get(k, 0)) for k in ("CPU", "GPU"))
            )
            for each in self.ray.nodes()
            if each["Alive"]
        ]
        self.silent &= {each.id for each in found}
        self.silent -= {each for each in self.silent if self._answers(each)}
        return [each for each in found if each.id not in self.silent]

    def _answers(self, node_id: str) -> bool:
        try:
            self.ray.get(self._token_task(node_id), timeout=_ANSWER)
        except self.ray.exceptions.RayError:
            return False
        return True

    def reserve(self, n: int, cores: int, gpus: int, silence: float) -> list[Reserved] | str:
        """Reserves CPU cores and GPUs on each of n machines, or returns why that is impossible at the moment.

        silence: seconds after which an agent that is not asked ends its ranks
        """
        self.release()
        groups = importlib.import_module("ray.util.placement_group")
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        without = [{_NODE_ID: f"!in({','.join(sorted(self.silent))})"}] * n if self.silent else None
        self._group = groups.placement_group(
            [{"CPU": cores, "GPU": gpus}] * n, strategy="STRICT_SPREAD", bundle_label_selector=without
        )
        if not self._group.wait(timeout_seconds=_READY):
            self.release()
            return f"{cores} CPU cores{f' and {gpus} GPUs' * bool(gpus)} are not free on {n} machines"
        ids = groups.placement_group_table(self._group)["bundles_to_node_id"]
        known = {each.id: each for each in self.machines()}
        for index in range(n):
            place = strategies.PlacementGroupSchedulingStrategy(self._group, placement_group_bundle_index=index)
            # with the GPUs as the agent's own, Ray makes them the visible ones of its processes
            agent = self._agent_class().options(scheduling_strategy=place, num_gpus=gpus).remote(silence)
            machine = known.get(ids[index], Machine(ids[index], ids[index][:8], cores, gpus))
            self._reserved.append(Reserved(machine, agent))
        return self._answering() or self._reserved

    def _answering(self) -> str:
        """Why an agent could not be started, empty if all were."""
        refs = [each.agent.is_ready.remote() for each in self._reserved]
        self.ray.wait(refs, num_returns=len(refs), timeout=_AGENT)
        trouble = ""
        for each, ref in zip(self._reserved, refs):
            try:
                self.ray.get(ref, timeout=0)
            except self.ray.exceptions.RayError as error:
                trouble = f"{each.machine.name} cannot start an agent: {said_by(error)}"
                self.silent.add(each.machine.id)
        if trouble:
            self.release()
        return trouble

    def release(self) -> None:
        """Ends the agents, with all that they have started, and gives the CPU cores back."""
        for each in self._reserved:
            self.ray.kill(each.agent)
        self._reserved = []
        if self._group is not None:
            importlib.import_module("ray.util.placement_group").remove_placement_group(self._group)
            self._group = None

    def close(self) -> None:
        self.release()
        if self._is_connected_here:
            self.ray.shutdown()


def said_by(error: Exception) -> str:
    """The first line of an error of Ray."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Ray's handler of SIGTERM would end this process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
