"""HTML report of a run, updated during training."""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.training.extension import AbstractExtension
from cvzoo.training.output_folder import write_or_warn
from cvzoo.training.run.run_report import FILENAME, write_run_report
from cvzoo.training.run.run_status import FINISHED, RUNNING, FolderLock, RunStatus, write_status
from cvzoo.training.triggers.get_trigger import get_trigger

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike

_SHARE = 100  # writing the report may take a hundredth of the time


class RunReport(AbstractExtension):
    """Writes report.html and status.json into the trainer's folder: at the start, periodically, and at the end.

    best, best_is: the score that selects the best row, as for `write_run_report`
    trigger: when to write; the extension itself must be called at every iteration
    seconds: it is also written after the first iteration after this time
    resume_with: the command that resumes the run, for the report
    clock: seconds, for tests

    During training it has the folder's lock, by which `mark_if_killed` knows that the process is alive.
    `Trainer.run` raises ValueRangeError if another process holds it.
    """

    trigger = (1, "iteration")
    priority = -500  # after the extensions that write the files it reads

    def __init__(
        self,
        best: str | None = None,
        best_is: str = "largest",
        trigger: "TriggerLike" = (1, "epoch"),
        *,
        seconds: float = 30.0,
        resume_with: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._best = best
        self._best_is = best_is
        self._due = get_trigger(trigger)
        self._seconds = seconds
        self._resume_with = resume_with
        self._clock = clock
        self._next = 0.0  # time of the next write
        self._n_write = 0
        self._lock = FolderLock()
        self._trainer: Trainer | None = None

    def restore(self, trainer: "Trainer") -> None:
        self._lock.take(trainer.out)

    def initialize(self, trainer: "Trainer") -> None:
        self._trainer = trainer
        self._write(trainer, RUNNING)
        self._next = self._clock()  # again after the first iteration

    def __call__(self, trainer: "Trainer") -> None:
        if self._due(trainer) or self._clock() >= self._next:
            self._write(trainer, RUNNING)

    def finalize(self) -> None:
        try:
            if self._trainer is not None:
                self._write(
                    self._trainer, _end_of(sys.exc_info()[1])
                )  # finalize is called also on the way out of an error
        finally:
            self._trainer = None
            self._lock.release()

    def _write(self, trainer: "Trainer", state: str) -> None:
        start = self._clock()
        status = RunStatus(
            state=state,
            epoch=round(trainer.updater.epoch_detail, 3),
            iteration=trainer.updater.iteration,
            resume_with=self._resume_with,
            best=self._best,
            best_is=self._best_is,
            reason=(trainer.stop_trigger.reason() or "") if state == FINISHED else "",
        )

        def write() -> None:
            write_status(trainer.out, status)
            write_run_report(trainer.out)

        write_or_warn(os.path.join(trainer.out, FILENAME), write)
        now = self._clock()
        self._n_write += 1
        # the page after the first one with a loss has the first predictions: within a minute, whatever it costs
        share = 0.0 if self._n_write <= 2 else _SHARE * (now - start)
        self._next = now + max(self._seconds, share)

    def state(self) -> dict[str, Any]:
        return {"due": self._due.state()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._due.load_state(state.get("due", {}))


def _end_of(error: BaseException | None) -> str:
    if error is None:
        return FINISHED
    if isinstance(error, KeyboardInterrupt):
        return "stopped by Ctrl-C"
    if isinstance(error, SystemExit):
        known: dict[str | int | None, str] = {128 + number: number.name for number in signal.Signals}
        return f"stopped by {known.get(error.code, f'exit status {error.code}')}"
    return f"failed: {type(error).__name__}: {error}".splitlines()[0]
