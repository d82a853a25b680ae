"""How an attempt of a job ended, in words and as an exit status."""

import pathlib
import re
import signal
from collections.abc import Sequence
from typing import NamedTuple

HANGING = 124  # exit status of a job that was ended because it hung, as of `timeout`
UNAVAILABLE = 69  # likewise: a machine was lost, or there are too few; EX_UNAVAILABLE of sysexits.h
# what MPICH prints on the rank that aborts, and Open MPI by mpiexec
_ABORT = re.compile(
    r"^Abort\((\d+)\) on node \d+ \(rank (\d+)|MPI_ABORT was invoked on rank (\d+)[\s\S]*errorcode (\d+)", re.MULTILINE
)
_NO_MEMORY = ("MemoryError", "out of memory", "Cannot allocate memory")


class RankEnd(NamedTuple):
    """How a rank ended.

    code: exit status, minus the number of a signal, or None: it was ended with the job
    peak_bytes: its largest memory, None if unknown
    log: file of its output; last_lines: the end of it
    """

    rank: int
    code: int | None
    peak_bytes: int | None
    log: pathlib.Path
    last_lines: tuple[str, ...]

    def words(self) -> str:
        """How it ended, in words."""
        if self.code is None:
            return "was ended with the job"
        return "done" if self.code == 0 else code_in_words(self.code)


class Outcome(NamedTuple):
    """How an attempt ended.

    status: exit status for the launcher, 0 if all ranks are done
    reason: in words
    can_restart: whether another attempt may succeed: not after an error of the program itself
    is_memory: whether memory was exhausted, so that fewer ranks may fit
    is_by_user: whether a signal of the user ended it
    step: number of updates that the ranks had done, None if unknown
    """

    status: int
    reason: str
    can_restart: bool = False
    is_memory: bool = False
    is_by_user: bool = False
    step: int | None = None
    ranks: tuple[RankEnd, ...] = ()


def code_in_words(code: int) -> str:
    """An exit status, or minus the number of a signal, in words."""
    if code >= 0:
        return f"ended with exit status {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was killed by {name}"


def of_rank(
    rank: int, code: int, last_lines: Sequence[str], peak_bytes: int | None, has_killed_for_memory: bool
) -> Outcome:
    """The outcome of a rank that failed. has_killed_for_memory: whether the kernel killed a process meanwhile"""
    said = next((line.strip() for line in reversed(last_lines) if "error" in line.lower()), "")
    is_memory = any(words in line for words in _NO_MEMORY for line in last_lines[-3:])
    if code == -signal.SIGKILL and has_killed_for_memory:
        is_memory = True
    reason = f"rank {rank} {code_in_words(code)}"
    if is_memory:
        peak = f", at a peak of {peak_bytes / 1e6:.0f} MB" if peak_bytes else ""
        reason = f"rank {rank} ran out of memory{peak}, and {code_in_words(code)}"
    if code > 0 and said:
        reason = f"{reason}: {said}"
    return Outcome(128 - code if code < 0 else code, reason, can_restart=code < 0 or is_memory, is_memory=is_memory)


def of_hang(reason: str) -> Outcome:
    return Outcome(HANGING, f"the job hangs: {reason}", can_restart=True)


def of_lost_machine(reason: str, is_memory: bool) -> Outcome:
    return Outcome(UNAVAILABLE, reason, can_restart=True, is_memory=is_memory)


def of_full_disk(logs: pathlib.Path, error: OSError | None) -> Outcome:
    """The outcome of a job whose output cannot be written."""
    why = error.strerror if error is not None else ""
    return Outcome(1, f"the logs in {logs} cannot be written: {why}")


def interrupted(number: int) -> Outcome:
    """The outcome of a job that the user ended by a signal."""
    return Outcome(128 + number, f"interrupted by {signal.Signals(number).name}", is_by_user=True)


def aborted_rank(text: str) -> tuple[int, int] | None:
    """(rank, exit status) of the rank that ended all ranks, as MPI's libraries print it; None if there is none."""
    match = _ABORT.search(text)
    if match is None:
        return None
    return (int(match[2]), int(match[1])) if match[2] else (int(match[3]), int(match[4]))
