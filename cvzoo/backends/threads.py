"""How many threads kernels may use, and why that many."""

import functools
import os
import pathlib

from cvzoo.errors.exceptions import ConfigError

_LOCAL_RANKS = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")


def _quota() -> float | None:
    """How many processors' time the control group allows, None without a limit."""
    try:
        limit, period = pathlib.Path("/sys/fs/cgroup/cpu.max").read_text().split()[:2]
    except (OSError, ValueError):
        try:
            limit = pathlib.Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").read_text()
            period = pathlib.Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us").read_text()
        except OSError:
            return None
    try:
        quota = float(limit) / float(period)
    except (ValueError, ZeroDivisionError):  # "max"
        return None
    return quota if quota > 0 else None


@functools.cache
def thread_count() -> tuple[int, str]:
    """The number of threads, and the reason in words.

    CVZOO_NUM_THREADS decides; else OMP_NUM_THREADS; else the processors that this process may use, divided among the
    processes of an MPI job on this machine.
    Raises ConfigError if CVZOO_NUM_THREADS is no positive number.
    """
    asked = os.environ.get("CVZOO_NUM_THREADS")
    if asked:
        if not asked.isdigit() or int(asked) == 0:
            raise ConfigError("CVZOO_NUM_THREADS must be a positive number", got=repr(asked))
        return int(asked), "CVZOO_NUM_THREADS"
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if asked.isdigit() and int(asked) > 0:
        return int(asked), "OMP_NUM_THREADS"
    if hasattr(os, "sched_getaffinity"):
        count, reason = len(os.sched_getaffinity(0)), "processors this process may use"
    else:
        count, reason = os.cpu_count() or 1, "processors of this machine"
    quota = _quota()
    if quota is not None and quota < count:
        count, reason = max(int(quota), 1), "quota of the control group"
    for name in _LOCAL_RANKS:
        ranks = os.environ.get(name, "")
        if ranks.isdigit() and int(ranks) > 1:
            return max(count // int(ranks), 1), f"{reason}, divided among {ranks} processes of an MPI job ({name})"
    return count, reason
