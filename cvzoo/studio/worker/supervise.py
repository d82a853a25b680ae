"""The supervisor of one attempt at a job: `python -m cvzoo.studio.worker.supervise ATTEMPT LOCK`.

It holds a lock for as long as it or the training lives, starts the command in a session of its own, obeys files in
`control/`, and ends by writing exit.json. It outlives the server, and neither opens its database nor a connection.
"""

import ctypes
import fcntl
import functools
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

from cvzoo.studio.worker.landlock import landlock_version, restrict

STARTED, EXIT, ORDER, LOG, CONTROL = "started.json", "exit.json", "order.json", "log.txt", "control"
INTERRUPT, KILL = "interrupt", "kill"  # files in `control`
FAILED = 100
_POLL_S = 0.2
_PR_SET_PDEATHSIG = 1
# what a training needs of the environment; anything else, such as passwords, is left out
_KEPT = (
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "TMPDIR",
    "TZ",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
    "XDG_CACHE_HOME",
)
_KEPT_PREFIXES = ("CVZOO_", "OMP_", "OPENBLAS_", "MKL_", "CUDA_", "NVIDIA_", "LC_")


def main(attempt: str, lock: str) -> int:
    """0 after the command ended, however; 1 if there is nothing to do, as it was started before; else 100 and the
    number of the operating system's error, such as that of a full disk.

    attempt: the folder with order.json, {"argv": [...], "folder": where it is started, "writable": [...], "network":
        whether it may use TCP}; lock: the lock file
    """
    try:
        return _supervise(pathlib.Path(attempt), lock)
    except OSError as error:
        return FAILED + (error.errno or 0)


def _supervise(folder: pathlib.Path, lock: str) -> int:
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 1
    if (folder / STARTED).exists() or (folder / EXIT).exists():
        return 1
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # meant for the server, whose terminal this may be
    order = json.loads((folder / ORDER).read_text(encoding="utf-8"))
    (folder / CONTROL).mkdir(exist_ok=True)
    with open(folder / LOG, "ab") as log:
        version = landlock_version()
        sandbox = f"Landlock, version {version}" if version else "none: the kernel has no Landlock"
        _write(folder / STARTED, {"pid": os.getpid(), "at": time.time_ns() // 1_000_000, "sandbox": sandbox})
        try:
            process = subprocess.Popen(
                order["argv"],
                cwd=order["folder"],
                env=kept_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(descriptor,),  # held until the training has ended, too
                preexec_fn=functools.partial(_prepare, os.getpid(), order["writable"], order["network"]),
            )
        except (OSError, subprocess.SubprocessError) as error:
            log.write(f"{order['argv'][0]}: {getattr(error, 'strerror', None) or error}\n".encode())
            _write(folder / EXIT, {"code": 127, "signal": None})
            return 0
    code = _watch(process, folder / CONTROL)
    _end_group(process.pid)
    _write(folder / EXIT, {"code": code if code >= 0 else None, "signal": -code if code < 0 else None})
    return 0


def kept_environment() -> dict[str, str]:
    """The variables of the environment that a training gets."""
    return {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)}


def _watch(process: subprocess.Popen, control: pathlib.Path) -> int:
    """The exit status of the process, negative for a signal; passes on what the files in `control` ask for."""
    interrupted = False
    while True:
        try:
            return process.wait(_POLL_S)
        except subprocess.TimeoutExpired:
            pass
        if (control / KILL).exists():
            _end_group(process.pid)
        elif (control / INTERRUPT).exists() and not interrupted:
            interrupted = True
            process.send_signal(signal.SIGINT)  # to the training alone: its workers end with it


def _prepare(supervisor: int, writable: list[str], network: bool) -> None:
    """In the new process: Ctrl-C works, and arrives if the supervisor is killed; other programs go first.

    Then rights are given up: to write anything else than `writable`, and to use the network if it is not needed.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
    if os.getppid() != supervisor:  # which was killed before that call
        os._exit(130)
    os.nice(5)
    restrict(readable=None, writable=writable, network=network)


def _end_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _write(path: pathlib.Path, tree: dict[str, Any]) -> None:
    """Writes the file whole or not at all. No other code of cvzoo: a supervisor should start at once."""
    part = path.with_name(f".{path.name}.part")
    with open(part, "w", encoding="utf-8") as file:
        json.dump(tree, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
