"""A trigger by time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.training.triggers.abstract import AbstractTrigger

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class TimeTrigger(AbstractTrigger):
    """Fires when `period` seconds of training have passed since it fired last; good for snapshots of long epochs."""

    def __init__(self, period: float):
        if not period > 0:
            raise ValueRangeError("TimeTrigger: period must be positive", got=repr(period))
        self.period = period
        self._next = period

    def __call__(self, trainer: "Trainer") -> bool:
        elapsed = trainer.elapsed_time
        if elapsed < self._next:
            return False
        self._next = elapsed + self.period
        return True

    def state(self) -> dict[str, Any]:
        return {"next": self._next}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._next = float(state["next"])
