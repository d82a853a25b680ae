"""One attempt of a job: its ranks are started, watched, and ended together."""

import dataclasses
import pathlib
import signal
import time
import uuid
from typing import BinaryIO

from cvzoo.distributed.launching.ending import EndingRequest
from cvzoo.distributed.launching.engine import AbstractEngine, AbstractRanks, Start
from cvzoo.distributed.launching.node_ranks import Event
from cvzoo.distributed.launching.outcome import (
    Outcome,
    RankEnd,
    aborted_rank,
    interrupted,
    of_full_disk,
    of_hang,
    of_lost_machine,
    of_rank,
)
from cvzoo.distributed.launching.rank_output import RankLog

_POLL = 0.1  # seconds
_SETTLE = 1.0  # from the failure of a rank until the others are killed: they may have something to say, too
_DUMP = 2.0  # for the stacks of hanging ranks
_SHOWN = 12  # last lines of a rank
_CONSEQUENCES = (-signal.SIGKILL, -signal.SIGTERM)  # ends of ranks by mpiexec, or by the launcher


@dataclasses.dataclass
class _Rank:
    log: RankLog
    seen: float  # last sign of life, by the monotonic clock
    has_started: bool = False
    has_ended: bool = False
    code: int | None = None  # None as well: it was ended with the job
    peak_bytes: int | None = None
    stopped_since: float | None = None
    step: int | None = None  # number of updates, None if unknown

    @property
    def is_running(self) -> bool:
        return self.has_started and not self.has_ended


class Attempt:
    """One attempt to run a program on `n` ranks, which the engine has reserved.

    program: words of a rank's command
    logs: folder for a file `rank-N.log` of each rank
    patience: seconds without a sign of life of any rank, or with a stopped one, after which the job hangs; 0: forever
    grace: seconds for ranks to end by themselves after a signal of the user
    environment: additional variables
    echo: stdout and stderr of rank 0 are copied to these; None: to nothing

    log: of mpiexec itself
    """

    def __init__(
        self,
        engine: AbstractEngine,
        n: int,
        program: list[str],
        *,
        logs: pathlib.Path,
        patience: float,
        grace: float,
        environment: dict[str, str],
        echo: tuple[BinaryIO, BinaryIO] | None,
    ):
        self._engine = engine
        self._patience, self._grace = patience, grace
        self._echo = echo
        logs.mkdir(parents=True, exist_ok=True)
        self._logs = logs
        now = time.monotonic()
        self._ranks = [_Rank(RankLog(logs / f"rank-{rank}.log"), now) for rank in range(n)]
        self.log = RankLog(logs / "mpiexec.log")
        self._start = Start(program, environment)
        self._outcome: Outcome | None = None
        self._lost: Outcome | None = None  # a machine
        self._kill_at: float | None = None
        self._passed_on = 0  # signal for ranks that start later, too
        self._first_failure: int | None = None

    def run(self, ending: EndingRequest) -> Outcome:
        """Runs until all ranks have ended, or one has failed; leaves no process and no shared memory."""
        with self._engine.start(uuid.uuid4().hex, self._start) as ranks:
            try:
                self._watch(ranks, ending)
            finally:
                left = ranks.kill()
                while events := ranks.read(0):
                    self._take(ranks, events)
                for log in (*(each.log for each in self._ranks), self.log):
                    log.close()
            outcome = self._outcome
            if self._lost is not None and (outcome is None or not outcome.is_by_user):
                outcome = self._lost  # the other ranks' errors, or their silence, are its consequences
            outcome = outcome or self._from(ranks.poll() or 0, ranks.has_killed_for_memory)
        if left:
            outcome = outcome._replace(reason=f"{outcome.reason}; processes {', '.join(left)} cannot be killed")
        steps = [each.step for each in self._ranks if each.step is not None]
        return outcome._replace(ranks=self._ends(), step=max(steps, default=None))

    # --- watching ---------------------------------------------------------------------------------------------------
    def _watch(self, ranks: AbstractRanks, ending: EndingRequest) -> None:
        passed_on = 0
        while ranks.poll() is None:
            self._take(ranks, ranks.read(_POLL))
            now = time.monotonic()
            if ending.count > passed_on:
                passed_on = ending.count
                self._outcome = self._outcome or interrupted(ending.number)
                self._pass_on(ranks, ending.number)
                self._kill_at = now if passed_on > 1 else now + self._grace
            elif self._outcome is None:
                self._look_for_failure(ranks, now)
            if self._kill_at is not None and now >= self._kill_at:
                ranks.kill()

    def _pass_on(self, ranks: AbstractRanks, number: int) -> None:
        """Sends the signal to all ranks, also to those that start later."""
        self._passed_on = number
        ranks.signal(number)

    def _look_for_failure(self, ranks: AbstractRanks, now: float) -> None:
        """Sets the outcome, and the time when what is left of the job is killed, if something is wrong."""
        full = next((each.log for each in self._ranks if each.log.error is not None), None)
        if full is not None:
            self._outcome = of_full_disk(self._logs, full.error)
            self._pass_on(ranks, signal.SIGTERM)
            self._kill_at = now + self._grace
        elif self._lost is not None:
            self._outcome, self._kill_at = self._lost, now
        elif self._first_failure is not None and self._kill_at is None:
            self._kill_at = now + _SETTLE  # the outcome is known when all has been read
        elif (reason := self._hang(now)) is not None:
            self._outcome = of_hang(reason)
            # Python's fault handler prints the stacks of all threads
            ranks.signal(signal.SIGABRT)
            ranks.signal(signal.SIGCONT)
            self._kill_at = now + _DUMP

    def _hang(self, now: float) -> str | None:
        """Why the job hangs, in words."""
        running = [(number, each) for number, each in enumerate(self._ranks) if each.is_running]
        if not self._patience or not running:
            return None
        for number, each in running:
            if each.stopped_since is not None and now - each.stopped_since > self._patience:
                return f"rank {number} has been stopped (SIGSTOP) for {self._patience:g} s"
        if now - max(each.seen for _, each in running) > self._patience:
            oldest = min(running, key=lambda pair: pair[1].seen)[0]
            return f"no rank has shown a sign of life for {self._patience:g} s, rank {oldest} for the longest time"
        return None

    # --- what happened to ranks ---------------------------------------------------------------------------------------
    def _take(self, ranks: AbstractRanks, events: list[Event]) -> None:
        for event in events:
            if event["event"] == "lost":
                self._lost = self._lost or of_lost_machine(event["reason"], event["is_memory"])
            elif event["event"] == "said":
                self.log.write(event["data"])
            elif event["event"] == "output":
                self._on_output(event["rank"], event["data"], event["is_error"])
            else:
                self._on_event(ranks, event)

    def _on_event(self, ranks: AbstractRanks, event: Event) -> None:
        each = self._ranks[event["rank"]]
        each.seen = time.monotonic()
        kind = event["event"]
        if kind == "alive":
            each.step = each.step if event["step"] is None else event["step"]
        elif kind == "started":
            each.has_started = True
            if self._passed_on:
                ranks.signal(self._passed_on, event["rank"])
        elif kind == "stopped":
            each.stopped_since = each.seen
        elif kind == "continued":
            each.stopped_since = None
        else:
            each.has_ended, each.peak_bytes = True, event["peak_bytes"]
            is_ending = self._first_failure is not None or self._outcome is not None
            if is_ending and event["code"] in _CONSEQUENCES:
                return
            each.code = event["code"]
            if each.code and self._first_failure is None:
                self._first_failure = event["rank"]

    def _on_output(self, rank: int, data: bytes, is_error: bool) -> None:
        each = self._ranks[rank]
        each.seen = time.monotonic()
        each.log.write(data)
        if rank == 0 and self._echo is not None:
            stream = self._echo[is_error]
            try:
                stream.write(data)
                stream.flush()
            except OSError:
                self._echo = None  # the terminal is closed, or the reader of a pipe; the logs remain

    # --- the end ------------------------------------------------------------------------------------------------------
    def _from(self, code: int, has_killed_for_memory: bool) -> Outcome:
        """The outcome of ranks that ended by themselves. code: of mpiexec"""
        first = self._first_failure
        # mpiexec may have ended the others, and the keeper of the rank that failed, before that could tell
        if first is None or self._ranks[first].code == -signal.SIGTERM:
            if first is None and not code and all(each.code == 0 for each in self._ranks):
                return Outcome(0, "done")
            logs = "\n".join(each.tail for each in (*(each.log for each in self._ranks), self.log))
            aborted = aborted_rank(logs)
            if aborted is not None:
                if first is not None:
                    self._ranks[first].code = None
                first, self._ranks[aborted[0]].code = aborted
        if first is None:
            return Outcome(1, self._early_end(code))
        each = self._ranks[first]
        assert each.code is not None
        return of_rank(first, each.code, each.log.last_lines(_SHOWN), each.peak_bytes, has_killed_for_memory)

    def _early_end(self, code: int) -> str:
        """Why mpiexec failed though no rank did, in words."""
        early = next((i for i, each in enumerate(self._ranks) if each.code == 0), None)
        if early is not None:
            return f"rank {early} ended before the others, without finalizing MPI"
        said = "; ".join(self.log.last_lines(1))
        return f"mpiexec ended with status {code}{': ' * bool(said)}{said}"

    def _ends(self) -> tuple[RankEnd, ...]:
        return tuple(
            RankEnd(i, each.code, each.peak_bytes, each.log.path, tuple(each.log.last_lines(_SHOWN)))
            for i, each in enumerate(self._ranks)
        )
