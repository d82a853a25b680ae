"""The parent process of one rank: starts its program, and tells the launcher how it ended.

mpiexec executes this file with Python alone: it must not import cvzoo, so that it starts in milliseconds.
"""

import ctypes
import json
import os
import resource
import signal
import sys

_RANKS = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
_PR_SET_PDEATHSIG = 1


def main(program: list[str]) -> int:
    """Runs the program until it ends, and returns its exit status; 128 + n for signal n.

    The launcher reads the pipes `events`, `out-RANK` and `err-RANK` in the folder of the environment variable.
    """
    if _RANKS[0] in os.environ:  # the child of Hydra's proxy: ends with it, and the program with this process
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    folder = os.environ["CVZOO_LAUNCH_FOLDER"]
    rank = next(os.environ[name] for name in _RANKS if name in os.environ)
    events = os.open(os.path.join(folder, "events"), os.O_WRONLY)

    def say(**event: object) -> None:
        os.write(events, json.dumps({"rank": int(rank), **event}).encode() + b"\n")  # atomic below 4096 bytes

    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(program, folder, rank, keeper)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: os.kill(pid, number))
    say(event="started", pid=pid)
    while True:
        _, status, usage = os.wait4(pid, os.WUNTRACED | os.WCONTINUED)
        if os.WIFSTOPPED(status):
            say(event="stopped", signal=os.WSTOPSIG(status))
        elif os.WIFCONTINUED(status):
            say(event="continued")
        else:
            code = os.waitstatus_to_exitcode(status)
            say(event="ended", code=code, peak_bytes=usage.ru_maxrss * 1024)
            return code if code >= 0 else 128 - code


def _become(program: list[str], folder: str, rank: str, keeper: int) -> None:
    """Replaces this process by the program, whose output goes to the launcher and which ends with its keeper."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != keeper:  # it ended before
        os._exit(1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    for number, path in (
        (0, os.devnull),
        (1, os.path.join(folder, f"out-{rank}")),
        (2, os.path.join(folder, f"err-{rank}")),
    ):
        opened = os.open(path, os.O_WRONLY if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    os.environ["CVZOO_LAUNCH_RANK"] = rank
    try:
        os.execvp(program[0], program)
    except OSError as error:
        os.write(2, f"{program[0]}: {error.strerror}\n".encode())
        os._exit(127)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
