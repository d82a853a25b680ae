"""The part of `cvzoo doctor --mpi`: an allreduce of two processes, and the speed of their link."""

import importlib.metadata
import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any

from cvzoo.distributed.launching import mpi_launcher
from cvzoo.distributed.launching.job import Job, run_job
from cvzoo.distributed.launching.mpi_launcher import find_mpi_launcher
from cvzoo.errors.exceptions import BackendError
from cvzoo.reporting.counted import counted

_RANKS = 2  # two are enough to see whether MPI starts processes and delivers messages
_PATIENCE = 60.0  # seconds
_PROBE = pathlib.Path(mpi_launcher.__file__).with_name("link_probe.py")


def mpi_results() -> dict[str, Any]:
    """Versions, whether the sum was right, latency in seconds, bandwidths in bytes per second.

    Raises MissingExtraError without mpi4py or mpiexec, BackendError with the reason if the processes fail.
    """
    launcher = find_mpi_launcher()
    job = Job((os.fspath(_PROBE),), _RANKS, patience=_PATIENCE, is_shown=False)
    failed: list[str] = []
    report = run_job(job, failed.append)[-1]
    if report.outcome.status:
        raise BackendError(f"two processes could not communicate: {report.outcome.reason}", got="\n".join(failed))
    result = json.loads(report.outcome.ranks[0].last_lines[-1])
    if result["size"] != _RANKS:
        raise BackendError(
            "mpiexec and mpi4py use different MPI libraries: each process is alone",
            got=f"{launcher.path} ({launcher.version}), and {result['library']}",
            hint='pip install "cvzoo[mpi]" in an environment of its own',
        )
    return {
        "launcher": launcher.path,
        "launcher_version": launcher.version,
        "mpi4py": importlib.metadata.version("mpi4py"),
        **result,
        "allreduce_bandwidth": result["allreduce_bytes"] / result["allreduce_seconds"],
    }


def mpi_facts(result: Mapping[str, Any]) -> dict[str, str]:
    """The results in words, one short text for each name."""
    size = result["size"]
    return {
        "launcher": f"{result['launcher']}, {result['launcher_version']}",
        "library": f"{result['library']}; mpi4py {result['mpi4py']}",
        "latency": f"{result['latency_seconds'] * 1e6:.1f} us",
        "link": f"{result['bandwidth'] / 1e6:,.0f} MB/s from one process to another",
        "allreduce": f"of {result['allreduce_bytes'] / 1e6:.0f} MB by {counted(size, 'process', 'processes')}: "
        f"{result['allreduce_seconds'] * 1e3:.1f} ms, {result['allreduce_bandwidth'] / 1e6:,.0f} MB/s",
    }
