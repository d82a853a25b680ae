"""Hyperparameter schedules, such as of the learning rate."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.training.extensions.shifts.abstract import AbstractShift
    from cvzoo.training.extensions.shifts.cosine_shift import CosineShift
    from cvzoo.training.extensions.shifts.exponential_shift import ExponentialShift
    from cvzoo.training.extensions.shifts.linear_shift import LinearShift
    from cvzoo.training.extensions.shifts.one_cycle_shift import OneCycleShift
    from cvzoo.training.extensions.shifts.polynomial_shift import PolynomialShift
    from cvzoo.training.extensions.shifts.step_shift import MultistepShift, StepShift
    from cvzoo.training.extensions.shifts.warmup_shift import WarmupShift

__all__ = [
    "AbstractShift",
    "CosineShift",
    "ExponentialShift",
    "LinearShift",
    "MultistepShift",
    "OneCycleShift",
    "PolynomialShift",
    "StepShift",
    "WarmupShift",
]

import_on_demand(__name__)
