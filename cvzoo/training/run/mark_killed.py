"""Detection of runs with a killed process."""

import contextlib
import dataclasses
import pathlib

from cvzoo.training.run.run_report import write_run_report
from cvzoo.training.run.run_status import KILLED, RUNNING, RunStatus, folder_lock, read_status, write_status
from cvzoo.typing.aliases import FilePath


def mark_if_killed(folder: FilePath) -> RunStatus | None:
    """The status of the run in the folder, after a check of its process; None if there is none.

    A run with the status "running" but without a process in the folder is marked as killed, with the time of its last
    update, in status.json and in its report, if they can be written. On file systems without locks the status is
    unchanged.
    Raises ValueRangeError if a process is training there.
    """
    if not pathlib.Path(folder).is_dir():
        return None
    with folder_lock(folder) as is_known:
        status = read_status(folder)
        if status is None or status.state != RUNNING or not is_known:
            return status
        status = dataclasses.replace(status, state=KILLED)
        with contextlib.suppress(OSError):  # the reader may not have permission to write
            write_status(folder, status)
            write_run_report(folder)
    return status
