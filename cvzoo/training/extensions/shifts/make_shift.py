"""Schedules from functions."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from cvzoo.training.extension import PRIORITY_READER, AbstractExtension

if TYPE_CHECKING:
    from cvzoo.optimizers.optimizer import AbstractOptimizer
    from cvzoo.training.trainer import Trainer


class FunctionShift(AbstractExtension):
    """Sets an optimizer's hyperparameter to the result of a function of the trainer; see `make_shift`."""

    trigger = (1, "iteration")
    priority = PRIORITY_READER

    def __init__(self, attr: str, function: Callable[["Trainer"], float], optimizer: "AbstractOptimizer | None" = None):
        self.attr = attr
        self.function = function
        self.optimizer = optimizer
        self.default_name = function.__name__

    def initialize(self, trainer: "Trainer") -> None:
        self(trainer)

    def __call__(self, trainer: "Trainer") -> None:
        optimizer = trainer.updater.get_optimizer("main") if self.optimizer is None else self.optimizer
        setattr(optimizer, self.attr, self.function(trainer))


def make_shift(
    attr: str, optimizer: "AbstractOptimizer | None" = None
) -> Callable[[Callable[["Trainer"], float]], FunctionShift]:
    """Decorator that turns a function of the trainer into a schedule; its result becomes the hyperparameter.

    attr: the name of the hyperparameter, such as "lr"
    optimizer: None: the trainer's "main"

    >>> @make_shift("lr")
    ... def warmup(trainer):
    ...     return 0.01 * min(trainer.updater.iteration / 1000, 1)

    The value is set once before training and, with the default trigger, after every iteration.
    Source: ChainerCV's decorator of this name.
    """

    def decorate(function: Callable[["Trainer"], float]) -> FunctionShift:
        return FunctionShift(attr, function, optimizer)

    return decorate
