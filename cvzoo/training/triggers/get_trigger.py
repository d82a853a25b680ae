"""Conversion of triggers from pairs and functions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from cvzoo.errors.exceptions import DtypeError
from cvzoo.training.triggers.abstract import AbstractTrigger
from cvzoo.training.triggers.interval_trigger import IntervalTrigger, UntilTrigger

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike


class FunctionTrigger(AbstractTrigger):
    """A trigger made of a function of the trainer; None never fires."""

    def __init__(self, function: Callable[["Trainer"], bool] | None):
        self.function = function

    def __call__(self, trainer: "Trainer") -> bool:
        return self.function is not None and bool(self.function(trainer))


def get_trigger(trigger: "TriggerLike") -> AbstractTrigger:
    """A trigger from a trigger, a pair such as (1, "epoch"), a function of the trainer, or None, which never fires.

    Raises DtypeError for any other input.
    """
    return _as_trigger(trigger, IntervalTrigger)


def get_stop_trigger(trigger: "TriggerLike") -> AbstractTrigger:
    """A stop trigger from the same arguments; a pair means until then, and stays true."""
    return _as_trigger(trigger, UntilTrigger)


def _as_trigger(trigger: object, of_pair: Callable[[float, str], AbstractTrigger]) -> AbstractTrigger:
    if isinstance(trigger, AbstractTrigger):
        return trigger
    if isinstance(trigger, tuple | list) and len(trigger) == 2:
        return of_pair(*trigger)
    if trigger is None or callable(trigger):
        return FunctionTrigger(cast("Callable[[Trainer], bool] | None", trigger))
    raise DtypeError(
        "the argument is not a trigger",
        expected='a pair such as (1, "epoch"), a trigger, or a function',
        got=repr(trigger),
    )
