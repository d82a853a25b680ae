"""Cosine annealing."""

import math
from typing import TYPE_CHECKING

from cvzoo.training.extensions.shifts.abstract import AbstractShift, check_count

if TYPE_CHECKING:
    from cvzoo.optimizers.optimizer import AbstractOptimizer


class CosineShift(AbstractShift):
    """Cosine annealing from init to `target` at t = max_count, constant after that; see AbstractShift.

    Source: I. Loshchilov, F. Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", ICLR 2017, equation 5,
    without restarts.
    """

    default_name = "CosineShift"

    def __init__(
        self,
        attr: str,
        max_count: float,
        init: float | None = None,
        target: float = 0.0,
        optimizer: "AbstractOptimizer | None" = None,
    ):
        super().__init__(attr, init, optimizer)
        check_count("CosineShift: max_count", max_count)
        self.max_count = max_count
        self.target = target

    def value(self, t: float) -> float:
        return cosine(self.start, self.target, min(t / self.max_count, 1.0))


def cosine(start: float, end: float, share: float) -> float:
    """Cosine annealing from `start` (at progress 0) to `end` (at progress 1)."""
    return end + (start - end) * (1 + math.cos(math.pi * share)) / 2
