"""Extensions that write the learning rate or other values to the observation."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from cvzoo.training.extension import PRIORITY_WRITER, FunctionExtension

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


def observe_value(observation_key: str, target_func: Callable[["Trainer"], object]) -> FunctionExtension:
    """An extension that writes `target_func(trainer)` to the observation, by default after every epoch."""

    def observe(trainer: "Trainer") -> None:
        trainer.observation[observation_key] = target_func(trainer)

    return FunctionExtension(
        observe, trigger=(1, "epoch"), default_name=f"observe_{observation_key}", priority=PRIORITY_WRITER
    )


def observe_lr(optimizer_name: str = "main", observation_key: str = "lr") -> FunctionExtension:
    """An extension that writes the learning rate of the last update to the observation, by default after every epoch.

    optimizer_name: its name in the updater
    """
    return observe_value(observation_key, lambda trainer: trainer.updater.get_optimizer(optimizer_name).lr)
