"""Step schedules."""

import bisect
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cvzoo.training.extensions.shifts.abstract import AbstractShift, check_count, towards

if TYPE_CHECKING:
    from cvzoo.optimizers.optimizer import AbstractOptimizer


class StepShift(AbstractShift):
    """Step schedule, init * gamma ** (t // step), limited by `target`; see AbstractShift."""

    default_name = "StepShift"

    def __init__(
        self,
        attr: str,
        gamma: float,
        step: int,
        init: float | None = None,
        target: float | None = None,
        optimizer: "AbstractOptimizer | None" = None,
    ):
        super().__init__(attr, init, optimizer)
        check_count("StepShift: step", step)
        self.gamma = gamma
        self.step = step
        self.target = target

    def value(self, t: float) -> float:
        return towards(self.start * self.gamma ** (t // self.step), self.start, self.target)


class MultistepShift(AbstractShift):
    """Multi-step schedule: init, multiplied by gamma when t reaches each number of `step_value`; see AbstractShift."""

    default_name = "MultistepShift"

    def __init__(
        self,
        attr: str,
        gamma: float,
        step_value: Sequence[int],
        init: float | None = None,
        optimizer: "AbstractOptimizer | None" = None,
    ):
        super().__init__(attr, init, optimizer)
        self.gamma = gamma
        self.step_value = sorted(step_value)

    def value(self, t: float) -> float:
        return self.start * self.gamma ** bisect.bisect_right(self.step_value, t)
