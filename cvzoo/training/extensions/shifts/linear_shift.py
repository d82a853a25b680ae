"""Linear schedule."""

from typing import TYPE_CHECKING

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.training.extensions.shifts.abstract import AbstractShift

if TYPE_CHECKING:
    from cvzoo.optimizers.optimizer import AbstractOptimizer


class LinearShift(AbstractShift):
    """Linear from value_range[0] at t = time_range[0] to value_range[1] at time_range[1]; constant before and after.

    See AbstractShift.
    """

    default_name = "LinearShift"

    def __init__(
        self,
        attr: str,
        value_range: tuple[float, float],
        time_range: tuple[float, float],
        optimizer: "AbstractOptimizer | None" = None,
    ):
        super().__init__(attr, value_range[0], optimizer)
        if not time_range[0] < time_range[1]:
            raise ValueRangeError("LinearShift: time_range must be two ascending numbers", got=time_range)
        self.value_range = tuple(value_range)
        self.time_range = tuple(time_range)

    def value(self, t: float) -> float:
        (v1, v2), (t1, t2) = self.value_range, self.time_range
        share = min(max((t - t1) / (t2 - t1), 0.0), 1.0)
        return v1 * (1 - share) + v2 * share
