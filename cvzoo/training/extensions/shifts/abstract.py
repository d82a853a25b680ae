"""A hyper-parameter that follows a plan."""

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.training.extension import PRIORITY_READER, AbstractExtension

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class AbstractShift(AbstractExtension, abc.ABC):
    """Sets an optimizer's hyper-parameter to `value(t)`, t being how many times it was called: the update number t,
    counted from 0, uses `value(t)` with the usual trigger.

    attr: the hyper-parameter's name, such as "lr" or "alpha"
    init: the value to start from; None: the optimizer's when training begins
    optimizer: None: the trainer's "main"
    """

    trigger = (1, "iteration")
    priority = PRIORITY_READER

    def __init__(self, attr: str, init: float | None = None, optimizer: Any = None):
        self.attr = attr
        self.init = init
        self.optimizer = optimizer
        self.t = 0

    @abc.abstractmethod
    def value(self, t: float) -> float:
        """The hyper-parameter after t calls; `self.init` is known then."""

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
    """`value`, which left from `init`, but not beyond `target`."""
    if target is None:
        return value
    return min(value, target) if init < target else max(value, target)


def check_count(what: str, count: float) -> None:
    """Raises ValueRangeError unless `count` is positive."""
    if not count > 0:
        raise ValueRangeError(what, expected="a positive number", got=repr(count))
