"""Means of observed values over intervals, for logs and plots."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cvzoo.reporting.summary import DictSummary
from cvzoo.training.triggers.get_trigger import get_trigger

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike

WHERE = ("epoch", "iteration", "elapsed_time")


class IntervalMeans:
    """Called after every iteration; when its trigger fires, returns the means over the interval.

    trigger: such as (1, "epoch"); keys: the values to average, None for all numbers
    summary: a DictSummary of the last complete interval
    """

    def __init__(self, trigger: "TriggerLike", keys: Sequence[str] | None = None):
        self._trigger = get_trigger(trigger)
        self._keys = None if keys is None else tuple(keys)
        self._summary = DictSummary()
        self.summary = self._summary  # of the last complete interval

    def __call__(self, trainer: "Trainer") -> dict[str, float] | None:
        """None, or "epoch", "iteration", "elapsed_time" (seconds) and then the means by key, in order of appearance."""
        observed = trainer.observation
        if self._keys is not None:
            observed = {key: observed[key] for key in self._keys if key in observed}
        self._summary.add(observed)
        if trainer.is_before_training or not self._trigger(trainer):
            return None
        means = self._summary.compute_mean()
        self.summary, self._summary = self._summary, DictSummary()
        updater = trainer.updater
        where = zip(WHERE, (updater.epoch, updater.iteration, trainer.elapsed_time))
        return {**dict(where), **means}

    def state(self) -> dict[str, Any]:
        """The state for `load_state`."""
        return {"summary": self._summary.state(), "trigger": self._trigger.state()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restores a state."""
        self._summary.load_state(state["summary"])
        self._trigger.load_state(state["trigger"])
