"""A hyper-parameter that goes to zero as a power."""

from typing import Any

from cvzoo.training.extensions.shifts.abstract import AbstractShift, check_count, towards


class PolynomialShift(AbstractShift):
    """init * (1 - t / max_count) ** rate, 0 from max_count on, but not beyond `target`; see AbstractShift."""

    default_name = "PolynomialShift"

    def __init__(
        self,
        attr: str,
        rate: float,
        max_count: int,
        init: float | None = None,
        target: float | None = None,
        optimizer: Any = None,
    ):
        super().__init__(attr, init, optimizer)
        check_count("PolynomialShift: max_count", max_count)
        self.rate = rate
        self.max_count = max_count
        self.target = target

    def value(self, t: float) -> float:
        return towards(self.init * max(1 - t / self.max_count, 0.0) ** self.rate, self.init, self.target)
