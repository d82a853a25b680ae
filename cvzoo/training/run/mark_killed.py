"""A run that was killed could not say so: whoever looks at its folder next does."""

import contextlib
import dataclasses
import os
import pathlib

from cvzoo.training.run.run_report import write_run_report
from cvzoo.training.run.run_status import KILLED, RUNNING, RunStatus, folder_lock, read_status, write_status


def mark_if_killed(folder: str | os.PathLike) -> RunStatus | None:
    """The status of the run in the folder; None if there is none.

    A run that says it is running although no process trains in the folder is marked as killed, with the time of its
    last sign of life, in status.json and on its page, if they can be written. Where the file system knows no locks,
    nobody can tell, and the status stays as it is.
    Raises ValueRangeError if a process is training there.
    """
    if not pathlib.Path(folder).is_dir():
        return None
    with folder_lock(folder) as is_known:
        status = read_status(folder)
        if status is None or status.state != RUNNING or not is_known:
            return status
        status = dataclasses.replace(status, state=KILLED)
        with contextlib.suppress(OSError):  # who looks need not be allowed to write
            write_status(folder, status)
            write_run_report(folder)
    return status
