"""The mean of one observed value over an interval."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.reporting.summary import DictSummary
from cvzoo.training.triggers.get_trigger import get_trigger

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike


class IntervalMean:
    """The mean of an observed value since the trigger of the interval fired last.

    key: of the observation; trigger: the interval
    """

    def __init__(self, key: str, trigger: "TriggerLike"):
        self.key = key
        self._due = get_trigger(trigger)
        self._summary = DictSummary()
        self._has_warned = False

    def __call__(self, trainer: "Trainer") -> float | None:
        """The mean at the end of the interval; None within it, and if the value was not reported in it."""
        observation = trainer.observation
        if self.key in observation:
            self._summary.add({self.key: observation[self.key]})
        if not self._due(trainer):
            return None
        mean = self._summary.compute_mean().get(self.key)
        if mean is None and not self._has_warned:
            self._has_warned = True
            known = ", ".join(sorted(observation)) or "nothing"
            warnings.warn(
                f"a trigger waits for {self.key!r}, which was not reported in its interval; reported now: {known}",
                RuntimeWarning,
                stacklevel=2,
            )
        self._summary = DictSummary()
        return mean

    def state(self) -> dict[str, Any]:
        """The state for `load_state`."""
        return {"summary": self._summary.state(), "due": self._due.state(), "has_warned": self._has_warned}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self._summary.load_state(state["summary"])
        self._due.load_state(state["due"])
        self._has_warned = bool(state["has_warned"])
