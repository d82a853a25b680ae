"""Schedules of learning rates and other hyperparameters."""

from cvzoo.errors.exceptions import DtypeError, GraphError, ValueRangeError
from cvzoo.singa.tensor_class import Tensor


class DecayScheduler:
    """Base class of schedules: implement `call(step)`, the value as a Tensor (1,) after `step` updates, a Tensor (1,).

    init_value: the initial value
    """

    def __init__(self, init_value: float):
        self.init_value = init_value

    def __call__(self, step: Tensor) -> Tensor:
        if not isinstance(step, Tensor):
            raise DtypeError("a schedule is called with a Tensor", got=type(step).__name__)
        return self.call(step)

    def call(self, step: Tensor) -> Tensor:
        """The value as a Tensor (1,)."""
        raise GraphError(f"{type(self).__name__} has no schedule", hint="write call(self, step)")


class Constant(DecayScheduler):
    """A constant value."""

    def call(self, step: Tensor) -> Tensor:
        """(1,)."""
        return Tensor((1,)).set_value(self.init_value)


class ExponentialDecay(DecayScheduler):
    """init_value * decay_rate ** (step / decay_steps), the exponent rounded down with `staircase`."""

    def __init__(self, init_value: float, decay_steps: float, decay_rate: float, staircase: bool = False):
        super().__init__(init_value)
        if decay_steps <= 0:
            raise ValueRangeError("ExponentialDecay: decay_steps must be above 0", got=decay_steps)
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase

    def call(self, step: Tensor) -> Tensor:
        """(1,)."""
        exponent = step // self.decay_steps if self.staircase else step / self.decay_steps
        return Tensor((1,)).set_value(self.init_value * self.decay_rate ** exponent.item())


def as_schedule(value: DecayScheduler | float, name: str, *, at_least: float | None = None) -> DecayScheduler:
    """A number or a schedule as a schedule.

    Raises DtypeError for anything else, ValueRangeError for a number below `at_least`.
    """
    if isinstance(value, DecayScheduler):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DtypeError(f"{name} is a number or a schedule", got=type(value).__name__, hint="opt.ExponentialDecay")
    if at_least is not None and value < at_least:
        raise ValueRangeError(f"{name} is too small", expected=f"at least {at_least}", got=value)
    return Constant(value)
