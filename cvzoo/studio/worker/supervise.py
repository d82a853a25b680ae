"""The supervisor of one attempt at a job: `python -m cvzoo.studio.worker.supervise ATTEMPT LOCK`.

It holds a lock for as long as it or the training lives, starts the command in a session of its own, obeys files in
`control/`, and ends by writing exit.json. It outlives the server, and neither opens its database nor a connection.
"""

import contextlib
import ctypes
import errno
import fcntl
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any, BinaryIO

from cvzoo.studio.worker.landlock import landlock_version, restrict
from cvzoo.studio.worker.limits import go_first, limit_tasks

STARTED, EXIT, ORDER, LOG, CONTROL = "started.json", "exit.json", "order.json", "log.txt", "control"
INTERRUPT, KILL = "interrupt", "kill"  # files in `control`
FAILED = 100
_POLL_S = 0.2
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_N_TASK = 4096  # threads of workers on many cores, but no fork bomb
_N_LOOK, _LOOK_S = 200, 0.01  # for what a job leaves running
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
        whether it may use TCP, "hidden": what it may not read}; lock: the lock file
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
    # what a job leaves running, in whatever session, becomes a child of this process, which ends it
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    # the job may write this folder, too, and put links in the place of files, or of the folder itself
    inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with _opened(inner, LOG, os.O_APPEND) as log, _temporary_folder(lock) as temporary:
        version = landlock_version()
        sandbox = f"Landlock, version {version}" if version else "none: the kernel has no Landlock"
        _write(inner, STARTED, {"pid": os.getpid(), "at": time.time_ns() // 1_000_000, "sandbox": sandbox})
        try:
            process = subprocess.Popen(
                order["argv"],
                cwd=order["folder"],
                env=kept_environment() | {"TMPDIR": temporary},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(descriptor,),  # held until the training has ended, too
                preexec_fn=functools.partial(_prepare, os.getpid(), order, temporary),
            )
        except (OSError, subprocess.SubprocessError) as error:
            log.write(f"{order['argv'][0]}: {getattr(error, 'strerror', None) or error}\n".encode())
            _write(inner, EXIT, {"code": 127, "signal": None})
            return 0
        code = _watch(process, folder / CONTROL)
        _end_group(process.pid)
        _end_children()
    _write(inner, EXIT, {"code": code if code >= 0 else None, "signal": -code if code < 0 else None})
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


def _prepare(supervisor: int, order: dict[str, Any], temporary: str) -> None:
    """In the new process: Ctrl-C works, and arrives if the supervisor is killed; other programs go first.

    Then rights are given up: to write anything else than the order says, to read secrets, and to use the network if it
    is not needed.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
    if os.getppid() != supervisor:  # which was killed before that call
        os._exit(130)
    os.nice(5)
    limit_tasks(_N_TASK)
    go_first()
    writable = [*order["writable"], temporary]
    restrict(readable=None, writable=writable, network=order["network"], hidden=order["hidden"])


@contextlib.contextmanager
def _temporary_folder(lock: str) -> Iterator[str]:
    """A folder of the attempt's own for temporary files, deleted at its end; its path is short, as sockets need it."""
    path = tempfile.mkdtemp(prefix=temporary_prefix(lock))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def temporary_prefix(lock: str) -> str:
    """How the name of an attempt's folder for temporary files begins. lock: its lock file"""
    return f"cvzoo-{os.path.basename(lock)}-"


def delete_temporary(lock: str) -> None:
    """Deletes the folder for temporary files of an attempt whose supervisor was killed."""
    root = tempfile.gettempdir()
    for name in os.listdir(root):
        path = os.path.join(root, name)
        # a folder of another user is none of ours, whatever its name
        if name.startswith(temporary_prefix(lock)) and os.lstat(path).st_uid == os.getuid():
            shutil.rmtree(path, ignore_errors=True)


def _end_children() -> None:
    """Kills the children of this process, and theirs, until there are none."""
    for _ in range(_N_LOOK):  # what is killed leaves its own children to this process
        found = _children()
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not found:
            return
        time.sleep(_LOOK_S)


def _children() -> list[int]:
    found, own = [], str(os.getpid())
    with contextlib.suppress(OSError):  # not every system has /proc
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                if file.read().rpartition(")")[2].split()[1] == own:
                    found.append(int(name))
    return found


def _end_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _write(folder: int, name: str, tree: dict[str, Any]) -> None:
    """Writes the file whole or not at all. No other code of cvzoo: a supervisor should start at once."""
    part = f".{name}.part"
    with _opened(folder, part, os.O_TRUNC) as file:
        file.write(json.dumps(tree).encode())
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, name, src_dir_fd=folder, dst_dir_fd=folder)


def _opened(folder: int, name: str, flag: int) -> BinaryIO:
    """A file of the folder, opened for writing; a link is replaced. folder: a descriptor"""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | flag
    try:
        return open(os.open(name, flags, 0o644, dir_fd=folder), "wb")
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
    os.unlink(name, dir_fd=folder)
    return open(os.open(name, flags | os.O_EXCL, 0o644, dir_fd=folder), "wb")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
