"""Extensions that write the learning rate or other values to the observation."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from cvzoo.optimizers.optimizer import AbstractOptimizer
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

    def of_trainer(trainer: "Trainer") -> object:
        optimizer = trainer.updater.get_optimizer(optimizer_name)
        rate = learning_rate(optimizer)
        return optimizer.lr if rate is None else rate  # which it has not

    return observe_value(observation_key, of_trainer)


def learning_rate(optimizer: AbstractOptimizer) -> float | None:
    """The learning rate with its schedule, which multiplies AdamW's by eta; None without one, as of AdaDelta."""
    values = optimizer.hyperparam.get_dict()
    rate = values.get("lr", values.get("alpha"))
    return None if rate is None else float(rate * values.get("eta", 1.0))
