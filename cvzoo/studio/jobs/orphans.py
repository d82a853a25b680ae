"""Trainings whose supervisor was killed: found by the lock that they inherited, and ended."""

import os
import pathlib
import signal


def holders(lock: pathlib.Path) -> list[int]:
    """The process ids of this user's other processes that have the lock file open."""
    import psutil  # 1.2 MB, which an idle server does without

    name = os.path.realpath(lock)
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and any(file.path == name for file in process.open_files()):
                found.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return found


def kill_orphans(lock: pathlib.Path, supervisor: int | None) -> bool:
    """Kills what holds the lock if the supervisor does not, which would do it otherwise; whether it did.

    supervisor: its process id; None if unknown, or if it is to be killed, too
    """
    found = holders(lock)
    if not found or supervisor in found:
        return False
    for pid in found:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return True
