"""When something is due."""

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class AbstractTrigger(abc.ABC):
    """Asked once after every iteration whether it fires. Any function of the trainer can stand in its place."""

    @abc.abstractmethod
    def __call__(self, trainer: "Trainer") -> bool:
        """Whether it fires now."""

    def training_length(self) -> tuple[float, str] | None:
        """As a trainer's stop trigger: how long training lasts at most, such as (20, "epoch"); None: nobody knows."""
        return None

    def state(self) -> dict[str, Any]:
        """What `load_state` needs to go on."""
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:  # noqa: B027
        """Go on from a state."""
