"""Limits that a process sets for itself and its children; of the standard library alone, as a supervisor needs it."""

import contextlib
import os
import resource


def limit(*, memory: int, n_task: int, file_size: int | None = None) -> None:
    """Limits this process, which writes no core and is the first to go if the machine has no memory left.

    memory: bytes of addresses; file_size: bytes
    n_task: processes and threads that the user may have in addition to those that there are; not of the superuser
    """
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    if file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    limit_tasks(n_task)
    go_first()


def limit_tasks(n: int) -> None:
    """Limits the processes and threads of the user to those that there are and n more; no core is written."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    wanted = _n_task(os.getuid()) + n
    if hard == resource.RLIM_INFINITY or wanted < hard:
        resource.setrlimit(resource.RLIMIT_NPROC, (wanted, wanted))


def go_first() -> None:
    """Has the kernel end this process and its children before the server, if the machine has no memory left."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "r+") as file:
        if int(file.read()) < _FIRST:
            file.seek(0)
            file.write(str(_FIRST))


_FIRST = 500


def _n_task(user: int) -> int:
    n = 0
    with contextlib.suppress(OSError):  # not every system has /proc
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if name.isdigit() and os.stat(f"/proc/{name}").st_uid == user:
                    n += len(os.listdir(f"/proc/{name}/task"))
    return n
