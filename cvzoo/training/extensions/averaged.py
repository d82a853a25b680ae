"""Validation and saving of the exponential moving average of the weights."""

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.optimizers.hooks.exponential_moving_average import ExponentialMovingAverage
from cvzoo.training.as_extension import ExtensionLike, as_extension
from cvzoo.training.extension import AbstractExtension

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class Averaged(AbstractExtension):
    """Calls another extension while the optimizer's link has its averaged weights: an evaluator, BestModel, pictures.

    extension: as for `Trainer.extend`; its trigger, priority and name are this one's
    average: a hook of the trainer's optimizer; None: the extension is called with the weights themselves

    >>> average = optimizers.ExponentialMovingAverage(0.9998, persistent=True)
    >>> optimizer.add_hook(average)
    >>> trainer.extend(Averaged(DetectionVOCEvaluator(iterator, model), average))
    >>> trainer.extend(Averaged(BestModel(model, "validation/main/map"), average))

    Training continues with the weights themselves, to the bit, and snapshots have both. Before the first update the
    extension sees the weights.
    """

    def __init__(self, extension: ExtensionLike, average: ExponentialMovingAverage | None):
        self.extension = as_extension(extension)
        self.average = average
        self.trigger = self.extension.trigger
        self.priority = self.extension.priority
        self.default_name = self.extension.default_name or type(self.extension).__name__
        self.name = self.extension.name

    def __call__(self, trainer: "Trainer") -> object:
        self.extension.name = self.name  # evaluators report their scores under it
        average = self.average
        with contextlib.nullcontext() if average is None or average.is_empty else average.applied():
            return self.extension(trainer)

    def restore(self, trainer: "Trainer") -> None:
        self.extension.restore(trainer)

    def initialize(self, trainer: "Trainer") -> None:
        self.extension.initialize(trainer)

    def finalize(self) -> None:
        self.extension.finalize()

    def on_error(self, trainer: "Trainer", exception: Exception) -> None:
        self.extension.on_error(trainer, exception)

    def on_interrupt(self, trainer: "Trainer") -> str | None:
        return self.extension.on_interrupt(trainer)

    def state(self) -> dict[str, Any]:
        return self.extension.state()

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.extension.load_state(state)
