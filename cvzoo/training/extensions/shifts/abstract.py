"""The base class of hyperparameter schedules."""

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.training.extension import PRIORITY_READER, AbstractExtension

if TYPE_CHECKING:
    from cvzoo.optimizers.optimizer import AbstractOptimizer
    from cvzoo.training.trainer import Trainer


class AbstractShift(AbstractExtension, abc.ABC):
    """Base class of schedules: sets an optimizer's hyperparameter to `value(t)`, where t is the number of calls.

    With the default trigger, update t, counted from 0, uses `value(t)`.
    attr: the name of the hyperparameter, such as "lr" or "alpha"
    init: the initial value; None: the optimizer's at the start of training
    optimizer: None: the trainer's "main"
    """

    trigger = (1, "iteration")
    priority = PRIORITY_READER

    def __init__(self, attr: str, init: float | None = None, optimizer: "AbstractOptimizer | None" = None):
        self.attr = attr
        self.init = init
        self.optimizer = optimizer
        self.t = 0

    @property
    def start(self) -> float:
        """`init`, which is set from the optimizer at the start of training if it was not given."""
        if self.init is None:
            raise ValueRangeError(f"the initial value of {self.attr} is not known before `initialize`")
        return self.init

    @abc.abstractmethod
    def value(self, t: float) -> float:
        """The hyperparameter after t calls; `self.init` is set before."""

    def initialize(self, trainer: "Trainer") -> None:
        if self.optimizer is None:
            self.optimizer = trainer.updater.get_optimizer("main")
        if self.init is None:
            self.init = float(getattr(self.optimizer, self.attr))
        self._set()

    def __call__(self, trainer: "Trainer") -> None:
        self.t += 1
        self._set()

    def _set(self) -> None:
        setattr(self.optimizer, self.attr, float(self.value(self.t)))

    def state(self) -> dict[str, Any]:
        return {"t": self.t, "init": self.init}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.t = int(state["t"])
        self.init = None if state["init"] is None else float(state["init"])


def towards(value: float, init: float, target: float | None) -> float:
    """`value`, which starts at `init`, limited by `target`."""
    if target is None:
        return value
    return min(value, target) if init < target else max(value, target)


def check_count(what: str, count: float) -> None:
    """Raises ValueRangeError unless `count` is positive."""
    if not count > 0:
        raise ValueRangeError(what, expected="a positive number", got=repr(count))
