"""A hyper-parameter that rises, and then falls far below where it began."""

from typing import Any

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.training.extensions.shifts.abstract import AbstractShift, check_count
from cvzoo.training.extensions.shifts.cosine_shift import cosine


class OneCycleShift(AbstractShift):
    """From max_value / start_divisor up to max_value, then down to the first value / end_divisor, both along half a
    cosine; see AbstractShift.

    max_value: the largest value; None: the optimizer's when training begins
    max_count: how many updates there are: the last value is that of t = max_count - 1
    rise: the share of them in which it rises

    Source: L. N. Smith, N. Topin, "Super-Convergence: Very Fast Training of Neural Networks Using Large Learning
    Rates", 2018. Where we differ: cosines instead of lines, as most implementations have them; for the momentum take a
    second one, which goes down and up.
    """

    default_name = "OneCycleShift"

    def __init__(
        self,
        attr: str,
        max_count: int,
        max_value: float | None = None,
        *,
        rise: float = 0.3,
        start_divisor: float = 25.0,
        end_divisor: float = 1e4,
        optimizer: Any = None,
    ):
        super().__init__(attr, max_value, optimizer)
        check_count("OneCycleShift: max_count", max_count)
        check_count("OneCycleShift: start_divisor", start_divisor)
        check_count("OneCycleShift: end_divisor", end_divisor)
        if not 0 < rise < 1:
            raise ValueRangeError("OneCycleShift: rise", expected="a number between 0 and 1", got=repr(rise))
        self.max_count = max_count
        self.rise = rise
        self.start_divisor = start_divisor
        self.end_divisor = end_divisor

    def value(self, t: float) -> float:
        start = self.init / self.start_divisor
        top, last = self.rise * self.max_count - 1, self.max_count - 1
        if t < top:
            return cosine(start, self.init, t / top)
        share = min((t - top) / (last - top), 1.0) if last > top else 1.0
        return cosine(self.init, start / self.end_divisor, share)
