"""A trigger that fires once."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.training.triggers.abstract import AbstractTrigger

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class OnceTrigger(AbstractTrigger):
    """Fires after the first iteration, and never again.

    call_on_resume: fire again in each resumed run
    """

    def __init__(self, call_on_resume: bool = False):
        self._call_on_resume = call_on_resume
        self._is_due = True

    def __call__(self, trainer: "Trainer") -> bool:
        fires, self._is_due = self._is_due, False
        return fires

    def state(self) -> dict[str, Any]:
        return {"is_due": self._is_due}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._is_due = bool(state["is_due"]) or self._call_on_resume
