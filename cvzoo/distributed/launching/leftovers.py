"""Processes and shared memory that a killed job leaves behind."""

import ctypes
import os
import pathlib
import signal
import time

MARK = "CVZOO_LAUNCH_ID"  # environment variable of all processes of a job
_PROC, _SHARED_MEMORY = pathlib.Path("/proc"), pathlib.Path("/dev/shm")
# names of MPICH's, UCX's and Open MPI's segments
_SEGMENTS = ("mpich_shm_", "ucx_shm_", "sm_segment", "vader_segment")
_WAIT = 5.0  # seconds until killed processes are gone
_PR_SET_PDEATHSIG = 1


def end_with_parent(number: int) -> None:
    """This process gets a signal when its parent dies, even by SIGKILL; for a child before it executes a program."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


def processes_of(job: str) -> list[int]:
    """The ids of all processes of a job, in whichever session or process group they are. job: the value of `MARK`"""
    mark = f"{MARK}={job}".encode()
    pids = []
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    pids.append(int(entry.name))
            except OSError:
                pass  # it has ended, or is another user's
    return pids


def kill_processes(job: str) -> list[int]:
    """Kills all processes of a job, and waits until they are gone; returns those that are not."""
    end = time.monotonic() + _WAIT
    while left := processes_of(job):
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if time.monotonic() > end:
            return left
        time.sleep(0.02)
    return []


def shared_memory() -> set[str]:
    """The names of this user's shared memory segments of MPI libraries."""
    try:
        with os.scandir(_SHARED_MEMORY) as entries:
            return {each.name for each in entries if each.name.startswith(_SEGMENTS) and _is_own(each)}
    except OSError:
        return set()


def _is_own(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    except OSError:
        return False


def remove_shared_memory(before: set[str]) -> list[str]:
    """Removes the segments that were not there `before` and that no process maps; returns their names."""
    new = shared_memory() - before
    used = _mapped() if new else ""
    removed = []
    for name in sorted(new):
        if f"{_SHARED_MEMORY}/{name}" not in used:
            try:
                (_SHARED_MEMORY / name).unlink()
                removed.append(name)
            except OSError:
                pass
    return removed


def _mapped() -> str:
    """The files in shared memory that processes have mapped, as text."""
    lines = []
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "maps").read_text(errors="replace")
            except OSError:
                continue
            lines += [line for line in text.splitlines() if str(_SHARED_MEMORY) in line]
    return "\n".join(lines)
