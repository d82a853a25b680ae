"""The program that starts processes of MPI, of the wheel in this environment or of the system."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

from cvzoo.backends.threads import thread_count
from cvzoo.distributed.launching.leftovers import end_with_parent
from cvzoo.distributed.launching.node_ranks import NodeRanks
from cvzoo.errors.exceptions import BackendError, MissingExtraError

_PIP = 'pip install "cvzoo[mpi]"'
_KEEPER = pathlib.Path(__file__).with_name("keeper.py")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class MPILauncher(NamedTuple):
    """A program mpiexec. path: its file; kind: "mpich", "openmpi", or "other"; version: its own words"""

    path: str
    kind: str
    version: str

    def command(self, n: int, program: list[str]) -> list[str]:
        """The words that start `n` processes of the program on this machine, each below a keeper."""
        own: list[str] = []
        if self.kind == "mpich":
            own = ["-launcher", "fork"]  # without ssh, and whatever queueing system surrounds it
        elif self.kind == "openmpi":
            own = ["--oversubscribe", "--bind-to", "none", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]
        return [self.path, *own, "-n", str(n), *_below_keeper(program)]

    def command_for_agents(self, address: str, n_machine: int, per_node: int, program: list[str]) -> list[str]:
        """The words that start `per_node` processes on each of several machines, by MPICH's Hydra.

        It prints a line `HYDRA_LAUNCH: ...` with the command that an agent on each machine executes.
        address: of this machine, for the others
        """
        # what Hydra takes for names of machines is never looked up; distinct ones keep two on one machine apart
        hosts = ",".join(f"node{i}:{per_node}" for i in range(n_machine))
        own = ["-launcher", "manual", "-localhost", address, "-hosts", hosts]
        return [self.path, *own, "-n", str(n_machine * per_node), *_below_keeper(program)]


def _below_keeper(program: list[str]) -> list[str]:
    return [sys.executable, "-I", os.fspath(_KEEPER), *program]


def find_mpi_launcher() -> MPILauncher:
    """The mpiexec next to this Python, else the one on the PATH.

    Raises MissingExtraError without mpi4py or mpiexec, BackendError if it does not run.
    """
    if find_spec("mpi4py") is None:
        raise MissingExtraError("mpi4py is not installed, by which ranks communicate", hint=_PIP)
    beside = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    path = beside if os.access(beside, os.X_OK) else shutil.which("mpiexec") or shutil.which("mpirun")
    if path is None:
        raise MissingExtraError("mpiexec was not found, which starts the ranks", hint=_PIP)
    try:
        version = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise BackendError(f"{path} does not run: {error}", hint=_PIP) from error
    kind = "mpich" if "HYDRA" in version else "openmpi" if "Open MPI" in version or "OpenRTE" in version else "other"
    lines = [" ".join(line.split()) for line in version.splitlines()]
    version = next((line for line in lines if "version" in line.lower()), lines[0] if lines else "unknown")
    return MPILauncher(path, kind, version.removeprefix("Version: "))


def python_program(words: list[str]) -> list[str]:
    """The words by which each rank runs the user's: a script, or a verb of cvzoo, such as `train --model ...`.

    An uncaught exception of one rank ends all, which `python` alone does not do.
    """
    module = [] if _is_script(words[0]) else ["-m", "cvzoo"]
    return [sys.executable, "-m", "mpi4py", *module, *words]


def _is_script(word: str) -> bool:
    return word.endswith(".py") or os.path.isfile(word)


def thread_environment(n: int) -> dict[str, str]:
    """Variables by which `n` ranks of this machine share its CPU cores; none if a number of threads is set."""
    if any(name in os.environ for name in ("CVZOO_NUM_THREADS", *_THREADS)):
        return {}
    return dict.fromkeys(_THREADS, str(max(1, thread_count()[0] // n)))


@contextlib.contextmanager
def mpi_process(
    command: list[str], environment: dict[str, str], node: NodeRanks, death: int
) -> Iterator["subprocess.Popen[bytes]"]:
    """A process of mpiexec, which ends with this one; its output is read with that of the node's ranks.

    environment: all of its variables
    death: signal that it gets if this process is killed
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**environment, "PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1"},
        start_new_session=True,  # Ctrl-C reaches the launcher alone, which passes it on
        preexec_fn=partial(end_with_parent, death),
    )
    assert process.stdout is not None
    with process.stdout:
        try:
            node.add(process.stdout)
            yield process
        finally:
            node.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # it may be waiting for a disk
                process.wait(timeout=10)
