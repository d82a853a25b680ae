"""The state of a run, by its status file and the lock that its process holds."""

import fcntl
import os
import pathlib
from typing import Literal, NamedTuple, TypeAlias

from cvzoo.studio.jobs.json_file import read_json_object
from cvzoo.training.run.run_status import FINISHED, KILLED, RUNNING, STATUS

State: TypeAlias = Literal["running", "finished", "stopped", "failed", "killed", "unknown"]


class RunState(NamedTuple):
    """state: in one word; detail: a sentence for people, "" if the word says all; status: the content of status.json"""

    state: State
    detail: str
    status: dict[str, object]


def run_state(folder: pathlib.Path) -> RunState:
    """The state of the run in the folder; a run that says "running" without a process was killed."""
    status = read_json_object(folder / STATUS)
    said = str(status.get("state", ""))[:500]
    seen = str(status.get("seen", ""))
    if said == RUNNING:
        alive = is_locked(folder)
        if alive is None:
            return RunState("unknown", "The file system has no locks, so it is not known whether it is alive.", status)
        if alive:
            return RunState("running", "", status)
        return RunState("killed", f"Its process ended without a word after {seen}.", status)
    if said == FINISHED:
        reason = str(status.get("reason", ""))
        return RunState("finished", f"{reason[:1].upper()}{reason[1:]}" if reason else "", status)
    if said == KILLED:
        return RunState("killed", f"Its process ended without a word after {seen}.", status)
    if said.startswith("failed"):
        return RunState("failed", said.removeprefix("failed: "), status)
    if said.startswith("stopped"):
        return RunState("stopped", f"{said[:1].upper()}{said[1:]}.", status)
    if is_locked(folder):
        return RunState("running", "It is starting.", status)
    return RunState("unknown", f"{STATUS} is missing or malformed.", status)


def is_locked(folder: pathlib.Path) -> bool | None:
    """Whether a process holds the folder's lock; None if the file system has no locks.

    A shared lock is tried and given back at once, so that two servers do not see each other.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return False
