"""Triggers for the best value so far."""

import abc
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.training.triggers.abstract import AbstractTrigger
from cvzoo.training.triggers.interval_mean import IntervalMean

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike


class AbstractBestValueTrigger(AbstractTrigger, abc.ABC):
    """Base class; fires when the mean of a value over an interval is better than in all intervals before; NaN never is.

    key: of the observation, such as "validation/main/accuracy"
    trigger: the intervals
    best_value: the best mean so far, or None
    """

    def __init__(self, key: str, trigger: "TriggerLike" = (1, "epoch")):
        self._mean = IntervalMean(key, trigger)
        self.best_value: float | None = None

    @abc.abstractmethod
    def is_better(self, best: float, value: float) -> bool:
        """Whether `value` is better than `best`."""

    def __call__(self, trainer: "Trainer") -> bool:
        value = self._mean(trainer)
        if value is None or math.isnan(value):
            return False
        if self.best_value is not None and not self.is_better(self.best_value, value):
            return False
        self.best_value = value
        return True

    def state(self) -> dict[str, Any]:
        return {"mean": self._mean.state(), "best_value": self.best_value}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._mean.load_state(state["mean"])
        self.best_value = state["best_value"]


class BestValueTrigger(AbstractBestValueTrigger):
    """Fires when `compare(best, value)` is true; see AbstractBestValueTrigger."""

    def __init__(self, key: str, compare: Callable[[float, float], bool], trigger: "TriggerLike" = (1, "epoch")):
        super().__init__(key, trigger)
        self._compare = compare

    def is_better(self, best: float, value: float) -> bool:
        return bool(self._compare(best, value))


class MaxValueTrigger(AbstractBestValueTrigger):
    """Fires when a value is larger than ever before; see AbstractBestValueTrigger."""

    def is_better(self, best: float, value: float) -> bool:
        return value > best


class MinValueTrigger(AbstractBestValueTrigger):
    """Fires when a value is smaller than ever before; see AbstractBestValueTrigger."""

    def is_better(self, best: float, value: float) -> bool:
        return value < best
