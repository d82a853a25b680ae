"""When extensions are due, and when training ends."""

from cvzoo.training.triggers.abstract import AbstractTrigger
from cvzoo.training.triggers.get_trigger import FunctionTrigger, get_stop_trigger, get_trigger
from cvzoo.training.triggers.interval_trigger import IntervalTrigger, UntilTrigger

__all__ = [
    "AbstractTrigger",
    "FunctionTrigger",
    "get_stop_trigger",
    "get_trigger",
    "IntervalTrigger",
    "UntilTrigger",
]
