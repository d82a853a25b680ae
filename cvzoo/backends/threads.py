"""Number of threads of kernels, the reason for it, and detection of busy CPUs."""

import functools
import os
import pathlib
from collections.abc import Iterator

from cvzoo.errors.exceptions import ConfigError

_CONTROL_GROUPS, _MEMBERSHIP = pathlib.Path("/sys/fs/cgroup"), pathlib.Path("/proc/self/cgroup")
_SCHEDULING = pathlib.Path("/proc/self/schedstat")
BUSY = 0.2  # of its time a thread waits for a CPU: other programs compete for it
_MOST_LOAD = 1.5  # programs for each CPU
_SHORTEST = 50_000_000  # nanoseconds; the waiting time in shorter periods is not meaningful
_LOCAL_RANKS = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")


def _control_groups() -> Iterator[pathlib.Path]:
    """The folders of the control groups (v1 and v2) of this process, and of their ancestors."""
    try:
        lines = _MEMBERSHIP.read_text().splitlines()
    except OSError:
        lines = []
    # the outermost first: in a container, the paths of the others may not exist
    for line in ("0::/", "0:cpu:/", *lines):
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for mount in {"cpu", controllers} if controllers else {""}:
            for depth in range(len(parts) + 1):
                yield _CONTROL_GROUPS.joinpath(mount, *parts[:depth])


def _quota_of(group: pathlib.Path) -> float | None:
    """Number of CPUs that one control group allows, None without a limit."""
    try:
        limit, period = (group / "cpu.max").read_text().split()[:2]
    except (OSError, ValueError):
        try:
            limit, period = [(group / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period")]
        except OSError:
            return None
    try:
        quota = float(limit) / float(period)
    except (ValueError, ZeroDivisionError):  # "max"
        return None
    return quota if quota > 0 else None


def quota() -> float | None:
    """Number of CPUs that control groups allow this process, None without a limit."""
    quotas = [quota for quota in map(_quota_of, _control_groups()) if quota is not None]
    return min(quotas, default=None)


@functools.cache
def thread_count() -> tuple[int, str]:
    """The number of threads, and the reason in words.

    CVZOO_NUM_THREADS decides; else OMP_NUM_THREADS; else the CPUs that this process may use, divided among the
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
    limit = quota()
    if limit is not None and limit < count:
        count, reason = max(int(limit), 1), "quota of the control group"
    for name in _LOCAL_RANKS:
        ranks = os.environ.get(name, "")
        if ranks.isdigit() and int(ranks) > 1:
            return max(count // int(ranks), 1), f"{reason}, divided among {ranks} processes of an MPI job ({name})"
    return count, reason


def _waited_share() -> float | None:
    """Fraction of its run time that this process's first thread waited for a CPU; None if unknown."""
    try:
        ran, waited = map(int, _SCHEDULING.read_text().split()[:2])
    except (OSError, ValueError):
        return None
    return waited / (ran + waited) if ran + waited >= _SHORTEST else None


def is_busy() -> bool:
    """Whether other programs compete for the CPUs, by this process's waiting time and the load."""
    share = _waited_share()
    if share is not None:
        return share > BUSY
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > _MOST_LOAD * (os.cpu_count() or 1)


def load() -> str:
    """The machine's load, in words."""
    share = _waited_share()
    words = [] if share is None else [f"this process waited {share:.0%} of its time for a processor"]
    if hasattr(os, "getloadavg"):
        words.append(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count() or 1} processors")
    return ", ".join(words) or "unknown"


def why_too_busy() -> str | None:
    """Why kernels take longer at the moment than they would, in words; None if they do not, or use one thread.

    The number of threads is not changed automatically, since results would have other bits.
    """
    if thread_count()[0] == 1 or not is_busy():
        return None
    return f"other programs compete for the CPUs, and everything takes longer ({load()})"
