"""A hyper-parameter that is multiplied again and again."""

from typing import Any

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.training.extensions.shifts.abstract import AbstractShift, towards


class ExponentialShift(AbstractShift):
    """init * rate ** t, but not beyond `target`; see AbstractShift. Often with trigger=(1, "epoch") or a
    ManualScheduleTrigger.

    rate: a positive factor
    """

    default_name = "ExponentialShift"

    def __init__(
        self, attr: str, rate: float, init: float | None = None, target: float | None = None, optimizer: Any = None
    ):
        super().__init__(attr, init, optimizer)
        if not rate > 0:
            raise ValueRangeError("ExponentialShift: rate", expected="a positive number", got=repr(rate))
        self.rate = rate
        self.target = target

    def value(self, t: float) -> float:
        return towards(self.init * self.rate**t, self.init, self.target)
