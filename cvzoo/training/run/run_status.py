"""The status of a run, and the lock by which its process is known to be alive."""

import contextlib
import dataclasses
import datetime
import fcntl
import json
import os
import pathlib
import time
from collections.abc import Iterator

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.training.output_folder import write_text
from cvzoo.typing.plain import FilePath

STATUS = "status.json"
RUNNING, KILLED, FINISHED = "running", "killed", "finished"
_LOOKED_AT_S = 0.5  # who looks whether a run is alive has a shared lock of it meanwhile, on a busy machine for longer


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunStatus:
    """The status of a run.

    state: "running", "finished", "stopped by Ctrl-C", "failed: ...", or "killed", which `mark_if_killed` sets
    seen: time of the last update, such as "2026-11-22 08:10:03 UTC"
    epoch, iteration: at that time
    resume_with: the command that resumes it, if known
    best, best_is: the score that selects the best model, "largest" or "smallest"
    reason: why the run finished before its maximum length, such as early stopping; "" otherwise
    """

    state: str
    epoch: float
    iteration: int
    seen: str = ""
    resume_with: str | None = None
    best: str | None = None
    best_is: str = "largest"
    reason: str = ""


def write_status(folder: FilePath, status: RunStatus) -> None:
    """Writes the status into the run's folder, with the current time unless it has one."""
    seen = status.seen or f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M:%S} UTC"
    tree = dataclasses.asdict(dataclasses.replace(status, seen=seen))
    write_text(pathlib.Path(folder, STATUS), json.dumps(tree, indent=2, ensure_ascii=False) + "\n")


def read_status(folder: FilePath) -> RunStatus | None:
    """The status in the run's folder, as it was written; None if there is none. Raises FileFormatError if damaged."""
    path = pathlib.Path(folder, STATUS)
    try:
        return RunStatus(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise FileFormatError(f"{path} is damaged: {error}") from error


class FolderLock:
    """A lock of the process that trains in a folder; the kernel releases it when the process ends.

    Some network file systems have no locks.
    """

    def __init__(self) -> None:
        self._descriptor: int | None = None

    def take(self, folder: FilePath) -> bool:
        """Acquires the folder's lock; False on file systems without locks.

        Raises ValueRangeError if another process, or trainer, has it.
        """
        self.release()
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _lock(descriptor)
        except BlockingIOError:
            os.close(descriptor)
            raise ValueRangeError(
                f"{os.fspath(folder)}: another process is training in this folder", hint="wait for it, or end it"
            ) from None
        except OSError:  # no locks here
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Releases the lock; may be called repeatedly."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _lock(descriptor: int) -> None:
    """Raises BlockingIOError if another process has the lock, OSError if there are no locks."""
    end = time.monotonic() + _LOOKED_AT_S
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
        time.sleep(0.01)


@contextlib.contextmanager
def folder_lock(folder: FilePath) -> Iterator[bool]:
    """Context manager that acquires the folder's lock; yields whether there is one. Raises as `FolderLock.take`."""
    lock = FolderLock()
    try:
        yield lock.take(folder)
    finally:
        lock.release()
