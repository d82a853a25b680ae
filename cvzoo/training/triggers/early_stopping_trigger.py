"""Early stopping."""

import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.training.triggers.abstract import AbstractTrigger
from cvzoo.training.triggers.get_trigger import get_stop_trigger
from cvzoo.training.triggers.interval_mean import IntervalMean

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike


class EarlyStoppingTrigger(AbstractTrigger):
    """Early stopping: a stop trigger that fires when a value has not improved for `patience` checks.

    check_trigger: when to check the mean of the value since the last check; where it was not reported since then, there
        is no check, so that (1, "epoch") also suits a validation every fifth epoch
    monitor: the key of the value, such as "validation/main/loss"
    patience: number of consecutive checks without improvement
    mode: "max" or "min": whether larger or smaller is better; "auto": larger for keys that end with accuracy, map,
        ap or miou, smaller for others
    verbose: print the result of each check
    max_trigger: the maximum length of training
    comm: of a training on several ranks, which all check the mean of their values; None: one process
    min_delta: a value must be better than the best one by more than this to be an improvement

    best, best_iteration, count: the best value so far, its iteration, and the checks since then
    Once fired, it stays true. NaN is never an improvement.
    Source: Prechelt, "Early Stopping - But When?", 1998, the criterion UP. Where we differ: consecutive checks without
    a new best value, not with a worse one each.
    """

    def __init__(
        self,
        check_trigger: "TriggerLike" = (1, "epoch"),
        monitor: str = "main/loss",
        patience: int = 3,
        mode: str = "auto",
        verbose: bool = False,
        max_trigger: "TriggerLike" = (100, "epoch"),
        *,
        min_delta: float = 0.0,
        comm: AbstractCommunicator | None = None,
    ):
        if mode not in ("auto", "max", "min"):
            raise ValueRangeError(
                "EarlyStoppingTrigger: mode is unknown", expected="'auto', 'max' or 'min'", got=repr(mode)
            )
        if patience < 1:
            raise ValueRangeError("EarlyStoppingTrigger: patience must be positive", got=patience)
        if not min_delta >= 0:
            raise ValueRangeError("EarlyStoppingTrigger: min_delta must not be negative", got=min_delta)
        if mode == "auto":
            is_score = monitor.rpartition("/")[2].endswith(("accuracy", "map", "ap", "miou"))
            mode = "max" if is_score else "min"
        self.mode = mode
        self.patience = patience
        self.verbose = verbose
        self.min_delta = min_delta
        self._comm = comm
        self.best: float | None = None
        self.best_iteration: int | None = None
        self.count = 0  # checks since the best one
        self._mean = IntervalMean(monitor, check_trigger)
        self._max_trigger = get_stop_trigger(max_trigger)
        self._looked_at = -1  # iteration of the last check, so that a second call in it does not count

    def __call__(self, trainer: "Trainer") -> bool:
        is_over = self.count >= self.patience
        if not is_over and not trainer.is_before_training and trainer.updater.iteration != self._looked_at:
            self._looked_at = trainer.updater.iteration
            self._look(trainer)
        return self._max_trigger(trainer) or self.count >= self.patience

    def _look(self, trainer: "Trainer") -> None:
        value = self._mean(trainer)
        if self._comm is not None and self._comm.size > 1:
            values = [each for each in self._comm.allgather_obj(value) if each is not None]
            value = sum(values) / len(values) if values else None
        if value is None:
            return
        sign = 1 if self.mode == "max" else -1
        if not math.isnan(value) and (self.best is None or sign * (value - self.best) > self.min_delta):
            self.best, self.best_iteration, self.count = value, trainer.updater.iteration, 0
        else:
            self.count += 1
        if self.verbose:
            best = "no value yet" if self.best is None else f"best {self.best:.6g}"
            patience = f"{self.count} of {self.patience} without a better one"
            print(f"early stopping: {self._mean.key} {value:.6g}, {best}, {patience}", file=sys.stderr)

    def reason(self) -> str | None:
        if self.count < self.patience:
            return None
        best = "no value" if self.best is None else f"{self.best:.6g} after iteration {self.best_iteration}"
        checks = "the last check" if self.count == 1 else f"the last {self.count} checks"
        return f"early stopping: {self._mean.key} has not improved in {checks}; best: {best}"

    def training_length(self) -> tuple[float, str] | None:
        return self._max_trigger.training_length()

    def state(self) -> dict[str, Any]:
        return {
            "mean": self._mean.state(),
            "max_trigger": self._max_trigger.state(),
            "best": self.best,
            "best_iteration": self.best_iteration,
            "count": self.count,
            "looked_at": self._looked_at,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._mean.load_state(state["mean"])
        self._max_trigger.load_state(state["max_trigger"])
        self.best = state["best"]
        self.best_iteration = state.get("best_iteration")  # None in snapshots of earlier versions
        self.count = int(state["count"])
        self._looked_at = int(state["looked_at"])


def MultiNodeEarlyStoppingTrigger(
    comm: AbstractCommunicator,
    check_trigger: "TriggerLike" = (1, "epoch"),
    monitor: str = "main/loss",
    patience: int = 3,
    mode: str = "auto",
    verbose: bool = False,
    max_trigger: "TriggerLike" = (100, "epoch"),
) -> EarlyStoppingTrigger:
    """An `EarlyStoppingTrigger` whose values are means over the ranks, so that all of them stop together.

    Source: ChainerMN's class of this name.
    """
    return EarlyStoppingTrigger(check_trigger, monitor, patience, mode, verbose, max_trigger, comm=comm)
