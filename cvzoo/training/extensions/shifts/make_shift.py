"""A shift made of a function."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cvzoo.training.extension import PRIORITY_READER, AbstractExtension

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class FunctionShift(AbstractExtension):
    """Sets an optimizer's hyper-parameter to what a function of the trainer gives; see `make_shift`."""

    trigger = (1, "iteration")
    priority = PRIORITY_READER

    def __init__(self, attr: str, function: Callable[["Trainer"], float], optimizer: Any = None):
        self.attr = attr
        self.function = function
        self.optimizer = optimizer
        self.default_name = function.__name__

    def initialize(self, trainer: "Trainer") -> None:
        self(trainer)

    def __call__(self, trainer: "Trainer") -> None:
        optimizer = trainer.updater.get_optimizer("main") if self.optimizer is None else self.optimizer
        setattr(optimizer, self.attr, self.function(trainer))


def make_shift(attr: str, optimizer: Any = None) -> Callable[[Callable[["Trainer"], float]], FunctionShift]:
    """A decorator that makes an extension of a function of the trainer, whose result becomes the hyper-parameter.

    attr: the hyper-parameter's name, such as "lr"
    optimizer: None: the trainer's "main"

    >>> @make_shift("lr")
    ... def warmup(trainer):
    ...     return 0.01 * min(trainer.updater.iteration / 1000, 1)

    The value is set once before training and after every iteration, with the usual trigger.
    Source: ChainerCV's decorator of this name.
    """

    def decorate(function: Callable[["Trainer"], float]) -> FunctionShift:
        return FunctionShift(attr, function, optimizer)

    return decorate
