"""The base class of triggers."""

import abc
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class AbstractTrigger(abc.ABC):
    """Base class of triggers, called once after every iteration. A function of the trainer can be used instead."""

    @abc.abstractmethod
    def __call__(self, trainer: "Trainer") -> bool:
        """Whether the trigger fires."""

    def training_length(self) -> tuple[float, str] | None:
        """As a stop trigger: the maximum length of training, such as (20, "epoch"); None: unknown."""
        return None

    def reason(self) -> str | None:
        """As a stop trigger that fired: why training ends before its maximum length; None: it does not."""
        return None

    def state(self) -> dict[str, Any]:
        """The state for `load_state`."""
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:  # noqa: B027
        """Restores a state."""


# what `get_trigger` takes: a pair such as (1, "epoch"), a function of the trainer; None never fires
TriggerLike: TypeAlias = AbstractTrigger | tuple[float, str] | Callable[["Trainer"], bool] | None
