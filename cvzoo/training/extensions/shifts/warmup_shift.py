"""Linear warm-up."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.training.extensions.shifts.abstract import AbstractShift, check_count

if TYPE_CHECKING:
    from cvzoo.optimizers.optimizer import AbstractOptimizer
    from cvzoo.training.trainer import Trainer


class WarmupShift(AbstractShift):
    """Linear warm-up from `warmup_start` to init at t = warmup_iter; then init, or the value of another schedule.

    warmup_start: the first value
    warmup_iter: number of updates of the warm-up
    then: a schedule of the same hyperparameter that follows (and is the target of the warm-up); its t counts from the
        start of training, and it is not added to the trainer itself

    >>> steps = MultistepShift("lr", 0.1, [60_000, 80_000])
    >>> trainer.extend(WarmupShift("lr", 0.001, 500, then=steps))

    Source: P. Goyal et al., "Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour", 2017, section 2.2. See
    AbstractShift.
    """

    default_name = "WarmupShift"

    def __init__(
        self,
        attr: str,
        warmup_start: float,
        warmup_iter: float,
        init: float | None = None,
        optimizer: "AbstractOptimizer | None" = None,
        *,
        then: AbstractShift | None = None,
    ):
        super().__init__(attr, init, optimizer)
        check_count("WarmupShift: warmup_iter", warmup_iter)
        if then is not None and then.attr != attr:
            raise ValueRangeError("WarmupShift: then must shift the same hyper-parameter", expected=attr, got=then.attr)
        self.warmup_start = warmup_start
        self.warmup_iter = warmup_iter
        self.then = then

    def initialize(self, trainer: "Trainer") -> None:
        if self.then is not None:
            self.then.initialize(trainer)  # where it takes init from the optimizer, before we change that
        super().initialize(trainer)

    def value(self, t: float) -> float:
        aim = self.start if self.then is None else self.then.value(t)
        if t >= self.warmup_iter:
            return aim
        return self.warmup_start + (aim - self.warmup_start) * t / self.warmup_iter

    def state(self) -> dict[str, Any]:
        return {**super().state(), "then": None if self.then is None else self.then.state()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        super().load_state(state)
        if self.then is not None:
            self.then.load_state(state["then"])
