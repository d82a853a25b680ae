"""Values that nobody reports, put into the observation."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cvzoo.training.extension import PRIORITY_WRITER, FunctionExtension

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


def observe_value(observation_key: str, target_func: Callable[["Trainer"], Any]) -> FunctionExtension:
    """An extension that puts `target_func(trainer)` into the observation, by default after every epoch."""

    def observe(trainer: "Trainer") -> None:
        trainer.observation[observation_key] = target_func(trainer)

    return FunctionExtension(
        observe, trigger=(1, "epoch"), default_name=f"observe_{observation_key}", priority=PRIORITY_WRITER
    )


def observe_lr(optimizer_name: str = "main", observation_key: str = "lr") -> FunctionExtension:
    """An extension that puts the learning rate of the last update into the observation, by default after every epoch.

    optimizer_name: as the updater calls it
    """
    return observe_value(observation_key, lambda trainer: trainer.updater.get_optimizer(optimizer_name).lr)
