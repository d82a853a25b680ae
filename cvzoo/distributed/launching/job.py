"""A job: attempts to run a program on several ranks, until one succeeds or none is left."""

import contextlib
import dataclasses
import json
import pathlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from cvzoo.distributed.launching.accumulation import ATTEMPT, PLANNED
from cvzoo.distributed.launching.attempt import Attempt
from cvzoo.distributed.launching.ending import EndingRequest
from cvzoo.distributed.launching.engine import AbstractEngine, ranks_in_words
from cvzoo.distributed.launching.local_engine import LocalEngine
from cvzoo.distributed.launching.mpi_launcher import python_program
from cvzoo.distributed.launching.outcome import UNAVAILABLE, Outcome, interrupted
from cvzoo.distributed.launching.ray_engine import RayEngine
from cvzoo.distributed.timeline import FOLDER as TIMELINES
from cvzoo.distributed.timeline import read_events, summarize
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.reporting.counted import counted

_LONGEST_PAUSE = 60.0  # seconds before a restart


class Nodes(NamedTuple):
    """Machines of a Ray cluster for a job.

    least, most: their number; per_node: ranks on each
    timeout: seconds without an answer after which a machine is lost
    """

    least: int
    most: int
    per_node: int = 1
    timeout: float = 30.0


@dataclasses.dataclass(frozen=True)
class Job:
    """A program for several ranks, on this machine or those of a Ray cluster, and how it is watched.

    words: a script and its arguments, or a verb of cvzoo and its options
    n: number of ranks
    least: with fewer ranks it is not restarted
    nodes: machines of a Ray cluster, `n` ranks on the most of them; None: this machine
    restarts: number of attempts after the first
    pause: seconds before the first restart, twice as many before each further one, at most a minute
    restart_words: appended in these, such as `--resume`
    logs: folder for the ranks' output; None: a temporary one, which is kept if the job fails
    patience: seconds without a sign of life of any rank after which the job hangs; 0: forever
    grace: seconds for the ranks to end after a signal of the user
    is_shown: whether the output of rank 0 is copied to this process's
    timeline: file for what all ranks do when, in Chrome's trace format; None: it is not recorded
    Raises ValueRangeError if a number is out of range.
    """

    words: tuple[str, ...]
    n: int
    least: int = 1
    nodes: Nodes | None = None
    restarts: int = 0
    pause: float = 1.0
    restart_words: tuple[str, ...] = ()
    logs: pathlib.Path | None = None
    patience: float = 1800.0
    grace: float = 60.0
    is_shown: bool = True
    timeline: pathlib.Path | None = None

    def __post_init__(self) -> None:
        if not self.words or self.n < 1 or not 1 <= self.least <= self.n or self.restarts < 0:
            raise ValueRangeError(
                "a job needs a program, at least one rank, and no more least ranks than ranks",
                got=f"{' '.join(self.words) or 'no program'}, {counted(self.n, 'rank')}, at least {self.least}",
            )
        if self.patience < 0 or self.grace < 0:
            raise ValueRangeError("patience and grace must be at least 0", got=f"{self.patience}, {self.grace}")


class AttemptReport(NamedTuple):
    """An attempt: its number of ranks, seconds, the folder of its logs, and how it ended."""

    n: int
    seconds: float
    logs: pathlib.Path
    outcome: Outcome

    def record(self) -> dict[str, Any]:
        """Ready for JSON."""
        ranks = [{**each._asdict(), "log": str(each.log), "ended": each.words()} for each in self.outcome.ranks]
        return {"n_rank": self.n, "seconds": self.seconds, **self.outcome._asdict(), "ranks": ranks}

    def text(self) -> str:
        """The reason, and the last lines of each rank if it failed."""
        if self.outcome.is_by_user:
            return f"{self.outcome.reason} after {self.seconds:.1f} s"
        lines = [f"failed after {self.seconds:.1f} s: {self.outcome.reason}"]
        for each in self.outcome.ranks:
            lines.append(f"rank {each.rank} {each.words()}; the end of {each.log}:")
            lines += [f"    {line}" for line in each.last_lines] or ["    (nothing was printed)"]
        return "\n".join(lines)


def run_job(job: Job, say: Callable[[str], None]) -> list[AttemptReport]:
    """Runs a job, restarted while that may help; the last attempt's outcome is the job's.

    say: called with each message for the user
    A restart has the same number of ranks, but fewer if memory was exhausted or a machine was lost.
    Raises MissingExtraError without MPI, or Ray where it is needed.
    """
    engine = _engine(job)
    reports: list[AttemptReport] = []
    with EndingRequest() as ending, contextlib.closing(engine), _log_folder(job.logs, reports) as logs:
        n: int | str | None = engine.reserve(False, ending, say)
        if isinstance(n, str):
            say(n)
            reports.append(AttemptReport(0, 0.0, logs / "attempt-0", _not_started(n, ending)))
        while isinstance(n, int):
            reports.append(_attempt(job, engine, n, len(reports), logs, ending))
            if job.timeline is not None:
                _merge_timelines(reports[-1].logs, job.timeline, say)
            n = _ranks_of_restart(job, engine, reports, ending, say)
    return reports


def _engine(job: Job) -> AbstractEngine:
    if job.nodes is None:
        return LocalEngine(job.n, job.least)
    return RayEngine(
        job.nodes.least, job.nodes.most, job.nodes.per_node, timeout=job.nodes.timeout, patience=job.patience
    )


def _not_started(reason: str, ending: EndingRequest) -> Outcome:
    return interrupted(ending.number) if ending.count else Outcome(UNAVAILABLE, reason)


def _attempt(
    job: Job, engine: AbstractEngine, n: int, number: int, logs: pathlib.Path, ending: EndingRequest
) -> AttemptReport:
    words = [*job.words, *(job.restart_words if number else ())]
    folder = logs / f"attempt-{number}"
    timelines = {} if job.timeline is None else {TIMELINES: str(folder.absolute())}
    attempt = Attempt(
        engine,
        n,
        python_program(words),
        logs=folder,
        patience=job.patience,
        grace=job.grace,
        environment={PLANNED: str(engine.planned), ATTEMPT: str(number), **timelines},
        echo=(sys.stdout.buffer, sys.stderr.buffer) if job.is_shown else None,
    )
    begun = time.monotonic()
    outcome = attempt.run(ending)
    return AttemptReport(n, time.monotonic() - begun, folder, outcome)


def _ranks_of_restart(
    job: Job, engine: AbstractEngine, reports: list[AttemptReport], ending: EndingRequest, say: Callable[[str], None]
) -> int | None:
    """The number of ranks of the next attempt; None if there is none. Says how the last one failed."""
    last = reports[-1]
    if last.outcome.status == 0:
        return None
    say(last.text())
    if not last.outcome.can_restart or ending.count or len(reports) > job.restarts:
        return None
    if (step := _deadly_step(reports)) is not None:
        say(f"not restarted, since it has failed twice after {step} updates")
        return None
    seconds = min(job.pause * 2 ** (len(reports) - 1), _LONGEST_PAUSE)
    if seconds:
        say(f"the next attempt begins in {seconds:g} s")
    if ending.wait(seconds):
        return None
    n = engine.reserve(last.outcome.is_memory, ending, say)
    if isinstance(n, str):
        say(f"not restarted, since {n}")
        return None
    more = " ".join(["", *job.restart_words])
    say(f"restart {len(reports)} of {job.restarts} with {ranks_in_words(n)}{more}")
    return n


def _deadly_step(reports: list[AttemptReport]) -> int | None:
    """The step after which the last two attempts failed, as the next would; None if they differ in something.

    A lost machine says nothing about the program, and fewer ranks after exhausted memory may get further.
    """
    if len(reports) < 2:
        return None
    last, before = reports[-1], reports[-2]
    is_machine = UNAVAILABLE in (last.outcome.status, before.outcome.status)
    if is_machine or last.n != before.n or last.outcome.step != before.outcome.step:
        return None
    return last.outcome.step


def _merge_timelines(folder: pathlib.Path, target: pathlib.Path, say: Callable[[str], None]) -> None:
    """Writes the events of all ranks to one file, and says how much communication was hidden."""
    events: dict[pathlib.Path, list[dict[str, Any]]] = {
        path: read_events(path) for path in sorted(folder.glob("timeline-*.json"))
    }
    if not events:
        say(f"{target} is not written, since no rank has used create_multi_node_optimizer")
        return
    with atomic_write(target) as file:
        file.write(json.dumps({"traceEvents": [event for each in events.values() for event in each]}).encode())
    for path, each in events.items():
        summary = summarize(each)
        say(
            f"rank {path.stem.split('-')[1]}: {summary.compute:.3f} s of computation, {summary.wire:.3f} s of "
            f"communication, {summary.hidden:.0%} of it hidden"
        )


@contextlib.contextmanager
def _log_folder(folder: pathlib.Path | None, reports: list[AttemptReport]) -> Iterator[pathlib.Path]:
    """The folder for logs; a temporary one is removed if the last attempt succeeded, or none could be made."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    made = pathlib.Path(tempfile.mkdtemp(prefix="cvzoo-launch-logs-"))
    try:
        yield made
    finally:
        if not reports or reports[-1].outcome.status == 0:
            shutil.rmtree(made, ignore_errors=True)
