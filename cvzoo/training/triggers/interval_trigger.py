"""Triggers by iterations or epochs."""

import math
from typing import TYPE_CHECKING

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.training.triggers.abstract import AbstractTrigger

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer

_SLACK = 1e-9  # epochs are sums of fractions: 0.3 / 0.1 is a little less than 3


def check_interval(period: float, unit: str) -> None:
    """Raises ValueRangeError unless `period` is positive and `unit` is "iteration" or "epoch"."""
    if unit not in ("iteration", "epoch"):
        raise ValueRangeError("the unit of an interval is unknown", expected="'iteration' or 'epoch'", got=repr(unit))
    if not period > 0:
        raise ValueRangeError(f"an interval of {unit}s must be positive", got=repr(period))


class IntervalTrigger(AbstractTrigger):
    """Fires every `period` iterations or epochs.

    period: a positive number; epochs may be fractions
    unit: "iteration" or "epoch"
    """

    def __init__(self, period: float, unit: str):
        check_interval(period, unit)
        self.period = period
        self.unit = unit

    def __call__(self, trainer: "Trainer") -> bool:
        updater = trainer.updater
        if self.unit == "iteration":
            return updater.iteration > 0 and updater.iteration % self.period == 0
        before = math.floor(updater.previous_epoch_detail / self.period + _SLACK)
        return math.floor(updater.epoch_detail / self.period + _SLACK) != before

    def training_length(self) -> tuple[float, str]:
        return self.period, self.unit

    def __repr__(self) -> str:
        return f"IntervalTrigger({self.period}, {self.unit!r})"


class UntilTrigger(AbstractTrigger):
    """A stop trigger: true after `period` iterations or epochs.

    Chainer's trainers use an interval instead, so that a finished run, when resumed, trains as long again.
    """

    def __init__(self, period: float, unit: str):
        check_interval(period, unit)
        self.period = period
        self.unit = unit

    def __call__(self, trainer: "Trainer") -> bool:
        done = trainer.updater.iteration if self.unit == "iteration" else trainer.updater.epoch_detail
        return done >= self.period - _SLACK

    def training_length(self) -> tuple[float, str]:
        return self.period, self.unit

    def __repr__(self) -> str:
        return f"UntilTrigger({self.period}, {self.unit!r})"
