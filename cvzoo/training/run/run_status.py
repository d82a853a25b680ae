"""What a run says of itself while its process lives, and whether it still does."""

import contextlib
import dataclasses
import datetime
import fcntl
import json
import os
import pathlib
from collections.abc import Iterator

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.training.output_folder import write_text

STATUS = "status.json"
RUNNING, KILLED = "running", "killed"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunStatus:
    """How a run stands.

    state: "running", "finished", "stopped by Ctrl-C", "failed: ...", or "killed" for one that could not say so itself
    seen: the last sign of life, such as "2026-11-22 08:10:03 UTC"
    epoch, iteration: how far it was then
    resume_with: the command that resumes it, if that is known
    best, best_is: the score by which the best model is chosen, "largest" or "smallest"
    """

    state: str
    epoch: float
    iteration: int
    seen: str = ""
    resume_with: str | None = None
    best: str | None = None
    best_is: str = "largest"


def write_status(folder: str | os.PathLike, status: RunStatus) -> None:
    """Write the status into the run's folder, with the present time unless it has one."""
    seen = status.seen or f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M:%S} UTC"
    tree = dataclasses.asdict(dataclasses.replace(status, seen=seen))
    write_text(pathlib.Path(folder, STATUS), json.dumps(tree, indent=2, ensure_ascii=False) + "\n")


def read_status(folder: str | os.PathLike) -> RunStatus | None:
    """The status in the run's folder, as it was written; None if there is none. Raises FileFormatError if damaged."""
    path = pathlib.Path(folder, STATUS)
    try:
        return RunStatus(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise FileFormatError(f"{path}: is damaged: {error}") from error


class FolderLock:
    """Held by the process that trains in a folder; the kernel frees it when the process dies.

    Some file systems of networks know no locks.
    """

    def __init__(self) -> None:
        self._descriptor: int | None = None

    def take(self, folder: str | os.PathLike) -> bool:
        """Hold the folder's lock; False where there are none, so that nobody knows who else may be there.

        Raises ValueRangeError if another process, or trainer, holds it.
        """
        self.release()
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
        """Let go of it; more than once does no harm."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextlib.contextmanager
def folder_lock(folder: str | os.PathLike) -> Iterator[bool]:
    """Holds the folder's lock for the block, and tells whether there is one. Raises as `FolderLock.take`."""
    lock = FolderLock()
    try:
        yield lock.take(folder)
    finally:
        lock.release()
