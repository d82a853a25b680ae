"""When extensions are due, and when training ends."""

from cvzoo.training.triggers.abstract import AbstractTrigger
from cvzoo.training.triggers.best_value_trigger import (
    AbstractBestValueTrigger,
    BestValueTrigger,
    MaxValueTrigger,
    MinValueTrigger,
)
from cvzoo.training.triggers.early_stopping_trigger import EarlyStoppingTrigger
from cvzoo.training.triggers.get_trigger import FunctionTrigger, get_stop_trigger, get_trigger
from cvzoo.training.triggers.interval_trigger import IntervalTrigger, UntilTrigger
from cvzoo.training.triggers.manual_schedule_trigger import ManualScheduleTrigger
from cvzoo.training.triggers.once_trigger import OnceTrigger
from cvzoo.training.triggers.time_trigger import TimeTrigger

__all__ = [
    "AbstractBestValueTrigger",
    "AbstractTrigger",
    "BestValueTrigger",
    "EarlyStoppingTrigger",
    "FunctionTrigger",
    "get_stop_trigger",
    "get_trigger",
    "IntervalTrigger",
    "ManualScheduleTrigger",
    "MaxValueTrigger",
    "MinValueTrigger",
    "OnceTrigger",
    "TimeTrigger",
    "UntilTrigger",
]
