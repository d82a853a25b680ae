"""Triggers: when extensions are called, and when training ends."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.training.triggers.abstract import AbstractTrigger
    from cvzoo.training.triggers.best_value_trigger import (
        AbstractBestValueTrigger,
        BestValueTrigger,
        MaxValueTrigger,
        MinValueTrigger,
    )
    from cvzoo.training.triggers.early_stopping_trigger import EarlyStoppingTrigger, MultiNodeEarlyStoppingTrigger
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
    "MultiNodeEarlyStoppingTrigger",
    "OnceTrigger",
    "TimeTrigger",
    "UntilTrigger",
]

import_on_demand(__name__)
