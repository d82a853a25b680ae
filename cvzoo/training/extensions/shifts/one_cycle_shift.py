"""One-cycle schedule."""

from typing import TYPE_CHECKING

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.training.extensions.shifts.abstract import AbstractShift, check_count
from cvzoo.training.extensions.shifts.cosine_shift import cosine

if TYPE_CHECKING:
    from cvzoo.optimizers.optimizer import AbstractOptimizer


class OneCycleShift(AbstractShift):
    """One-cycle schedule: up to max_value, then down, both along half a cosine; see AbstractShift.

    The first value is max_value / start_divisor, the last one is the first one / end_divisor.
    max_value: the maximum; None: the optimizer's value at the start of training
    max_count: number of updates: the last value is that of t = max_count - 1
    rise: the fraction of them in which the value rises

    Source: L. N. Smith, N. Topin, "Super-Convergence: Very Fast Training of Neural Networks Using Large Learning
    Rates", 2018. Where we differ: cosines instead of lines, as in most implementations; for the momentum use a second
    schedule, which goes down and up.
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
        optimizer: "AbstractOptimizer | None" = None,
    ):
        super().__init__(attr, max_value, optimizer)
        check_count("OneCycleShift: max_count", max_count)
        check_count("OneCycleShift: start_divisor", start_divisor)
        check_count("OneCycleShift: end_divisor", end_divisor)
        if not 0 < rise < 1:
            raise ValueRangeError("OneCycleShift: rise must be between 0 and 1", got=repr(rise))
        self.max_count = max_count
        self.rise = rise
        self.start_divisor = start_divisor
        self.end_divisor = end_divisor

    def value(self, t: float) -> float:
        low = self.start / self.start_divisor
        top, last = self.rise * self.max_count - 1, self.max_count - 1
        if t < top:
            return cosine(low, self.start, t / top)
        share = min((t - top) / (last - top), 1.0) if last > top else 1.0
        return cosine(self.start, low / self.end_divisor, share)
