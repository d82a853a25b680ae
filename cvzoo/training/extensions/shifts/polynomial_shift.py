"""Polynomial decay."""

from typing import TYPE_CHECKING

from cvzoo.training.extensions.shifts.abstract import AbstractShift, check_count, towards

if TYPE_CHECKING:
    from cvzoo.optimizers.optimizer import AbstractOptimizer


class PolynomialShift(AbstractShift):
    """Polynomial decay, init * (1 - t / max_count) ** rate, 0 at the end, limited by `target`; see AbstractShift."""

    default_name = "PolynomialShift"

    def __init__(
        self,
        attr: str,
        rate: float,
        max_count: int,
        init: float | None = None,
        target: float | None = None,
        optimizer: "AbstractOptimizer | None" = None,
    ):
        super().__init__(attr, init, optimizer)
        check_count("PolynomialShift: max_count", max_count)
        self.rate = rate
        self.max_count = max_count
        self.target = target

    def value(self, t: float) -> float:
        return towards(self.start * max(1 - t / self.max_count, 0.0) ** self.rate, self.start, self.target)
