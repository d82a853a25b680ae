"""The supervisor of one attempt at a job: `python -m cvzoo.studio.worker.supervise ATTEMPT LOCK`.

It holds a lock for as long as it or the training lives, starts the command in a session of its own, obeys files in
`control/`, and ends by writing exit.json. It outlives the server, and neither opens its database nor a connection.
"""

import contextlib
import ctypes
import dataclasses
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

from cvzoo.studio.worker.attempt import (
    BEAT,
    CONTROL,
    DUMP,
    EXIT,
    FAILED,
    INTERRUPT,
    KILL,
    LOG,
    ORDER,
    STARTED,
    USAGE,
    Limits,
    kept_environment,
    temporary_prefix,
)
from cvzoo.studio.worker.landlock import landlock_version, restrict
from cvzoo.studio.worker.limits import go_first, limit_tasks
from cvzoo.studio.worker.liveness import Liveness
from cvzoo.studio.worker.log_file import cut
from cvzoo.studio.worker.usage import TreeUsage, n_out_of_memory

_POLL_S = 0.2
_SAMPLE_S, _MAX_SAMPLES = 2.0, 20_000  # then one per 20,000th of the time that has passed
_DUMP_S = 5.0  # for a process to write its stacks
# written while a job makes progress; of a training, in its folder
_MARKS = ("live.jsonl", "iterations.jsonl", "metrics.jsonl", "status.json")
# by these variables iterators and trainers tell of each batch and iteration (cvzoo.reporting.sign_of_life)
_BEAT_FOLDER, _BEAT_RANK = "CVZOO_LAUNCH_FOLDER", "CVZOO_LAUNCH_RANK"
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_N_TASK = 4096  # threads of workers on many cores, but no fork bomb
_N_LOOK, _LOOK_S = 200, 0.01  # for what a job leaves running


def main(attempt: str, lock: str) -> int:
    """0 after the command ended, however; 1 if there is nothing to do, as it was started before; else 100 and the
    number of the operating system's error, such as that of a full disk.

    attempt: the folder with order.json, {"argv": [...], "folder": where it is started, "writable": [...], "network":
        whether it may use TCP, "hidden": what it may not read, "limits": of Limits}; lock: the lock file
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
        _opened(inner, BEAT, os.O_TRUNC).close()
        more = {"TMPDIR": temporary, "PYTHONFAULTHANDLER": "1", _BEAT_FOLDER: str(folder), _BEAT_RANK: "0"}
        more["CVZOO_STACKS"] = "1"  # `python -m cvzoo` writes them at SIGUSR1
        n_before = n_out_of_memory()
        try:
            process = subprocess.Popen(
                order["argv"],
                cwd=order["folder"],
                env=kept_environment() | more,
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
        watch = _Watch(process, folder, inner, Limits(**order.get("limits", {})))
        code = watch.until_end()
        _end_group(process.pid)
        _end_children()
    tree: dict[str, Any] = {"code": code if code >= 0 else None, "signal": -code if code < 0 else None}
    tree |= {"reason": watch.reason, "peak": watch.usage.peak, "out_of_memory": n_out_of_memory() > n_before}
    _write(inner, EXIT, tree)
    return 0


class _Watch:
    """What a supervisor does while its process lives: it obeys, measures, and ends what hangs.

    folder, inner: of the attempt, and its descriptor; reason: why it ended the process, None if it did not
    """

    def __init__(self, process: subprocess.Popen, folder: pathlib.Path, inner: int, limits: Limits):
        self._process, self._folder, self._inner = process, folder, inner
        self._start = self._next = time.monotonic()
        self._liveness = Liveness(limits, time.monotonic)
        self._sample_s = min(_SAMPLE_S, *(limit / 4 for limit in dataclasses.astuple(limits) if limit is not None))
        self.usage = TreeUsage(os.getpid())
        self.reason: str | None = None

    def until_end(self) -> int:
        """The exit status of the process, negative for a signal; passes on what the files in `control` ask for."""
        control, interrupted = self._folder / CONTROL, False
        while True:
            try:
                return self._process.wait(_POLL_S)
            except subprocess.TimeoutExpired:
                pass
            if (control / KILL).exists():
                _end_group(self._process.pid)
            elif (control / INTERRUPT).exists() and not interrupted:
                interrupted = True
                self._process.send_signal(signal.SIGINT)  # to the training alone: its workers end with it
            if (control / DUMP).exists():
                self._ask_for_stacks()
            if time.monotonic() >= self._next:
                self._look()

    def _look(self) -> None:
        elapsed = time.monotonic() - self._start
        self._next = self._start + elapsed + max(self._sample_s, elapsed / _MAX_SAMPLES)
        with contextlib.suppress(OSError), _opened(self._inner, USAGE, os.O_APPEND) as file:  # the disk may be full
            file.write(json.dumps(self.usage.sample(elapsed)).encode() + b"\n")
        with contextlib.suppress(OSError):
            descriptor = os.open(LOG, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._inner)
            try:
                cut(descriptor)
            finally:
                os.close(descriptor)
        reason = self._liveness.look(*self._marks())
        if reason is not None and self.reason is None:
            self.reason = reason
            self._dump()
            _end_group(self._process.pid)

    def _marks(self) -> tuple[int | None, int, tuple[int, ...]]:
        """(the number of iterations, when a batch was read last, when anything was written)."""
        step, beat = None, 0
        with contextlib.suppress(OSError, ValueError):
            descriptor = os.open(BEAT, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._inner)
            try:
                beat, text = os.fstat(descriptor).st_mtime_ns, os.pread(descriptor, 20, 0)
            finally:
                os.close(descriptor)
            step = int(text) if text.strip() else None
        written = []
        for path in (self._folder / LOG, *(self._folder.parents[1] / name for name in _MARKS)):
            try:
                written.append(os.lstat(path).st_mtime_ns)
            except OSError:
                written.append(0)
        return step, beat, tuple(written)

    def _ask_for_stacks(self) -> None:
        """Has each process that can do so write its stacks into the log, and go on."""
        with contextlib.suppress(OSError):
            descriptor = os.open(CONTROL, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=self._inner)
            try:
                os.unlink(DUMP, dir_fd=descriptor)
            finally:
                os.close(descriptor)
        pids = [pid for pid in self.usage.processes() if _handles(pid, signal.SIGUSR1)]
        words = f"stacks of {len(pids)} processes were asked for" if pids else "no process can write its stacks now"
        with contextlib.suppress(OSError), _opened(self._inner, LOG, os.O_APPEND) as log:
            log.write(f"cvzoo studio: {words}\n".encode())
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGUSR1)

    def _dump(self) -> None:
        """Has each process write its stacks into the log: by faulthandler, which is enabled, SIGABRT does that."""
        group = self._process.pid
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGABRT)
            os.killpg(group, signal.SIGCONT)  # what is suspended writes nothing
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_DUMP_S)


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


def _handles(pid: int, number: int) -> bool:
    """Whether the process has a handler for the signal, which would end it otherwise."""
    with (
        contextlib.suppress(OSError, ValueError),
        open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file,
    ):
        for line in file:
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


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
