"""A trigger at given points."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cvzoo.training.triggers.abstract import AbstractTrigger
from cvzoo.training.triggers.interval_trigger import check_interval

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer

_SLACK = 1e-9  # of epochs: fractions such as 1/3 are rounded where they are added up


class ManualScheduleTrigger(AbstractTrigger):
    """Fires when a point is reached or passed.

    points: a number, or several
    unit: "iteration" or "epoch"; epochs may be fractions
    """

    def __init__(self, points: float | Sequence[float], unit: str):
        self.points = list(points) if isinstance(points, Sequence) else [points]
        self.unit = unit
        for point in self.points:
            check_interval(point, unit)

    def __call__(self, trainer: "Trainer") -> bool:
        updater = trainer.updater
        if self.unit == "iteration":
            before, now = float(updater.iteration - 1), float(updater.iteration)
        else:
            before, now = updater.previous_epoch_detail, updater.epoch_detail
        return any(before + _SLACK < point <= now + _SLACK for point in self.points)
