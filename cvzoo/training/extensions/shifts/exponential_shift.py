"""Exponential decay."""

from typing import TYPE_CHECKING

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.training.extensions.shifts.abstract import AbstractShift, towards

if TYPE_CHECKING:
    from cvzoo.optimizers.optimizer import AbstractOptimizer


class ExponentialShift(AbstractShift):
    """Exponential decay, init * rate ** t, limited by `target`; see AbstractShift.

    Often with trigger=(1, "epoch") or a ManualScheduleTrigger.

    rate: a positive factor
    """

    default_name = "ExponentialShift"

    def __init__(
        self,
        attr: str,
        rate: float,
        init: float | None = None,
        target: float | None = None,
        optimizer: "AbstractOptimizer | None" = None,
    ):
        super().__init__(attr, init, optimizer)
        if not rate > 0:
            raise ValueRangeError("ExponentialShift: rate must be positive", got=repr(rate))
        self.rate = rate
        self.target = target

    def value(self, t: float) -> float:
        return towards(self.start * self.rate**t, self.start, self.target)
