"""Hyperparameter search over a recipe's settings, as of `cvzoo tune`."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.training.tuning.new_tuning import new_tuning, resume_tuning
    from cvzoo.training.tuning.search import Job, Search, Trial, rung_epochs
    from cvzoo.training.tuning.search_space import Choices, Range, read_space
    from cvzoo.training.tuning.tuning import Tuning, TuningSettings

__all__ = [
    "Choices",
    "Job",
    "new_tuning",
    "Range",
    "read_space",
    "resume_tuning",
    "rung_epochs",
    "Search",
    "Trial",
    "Tuning",
    "TuningSettings",
]

import_on_demand(__name__)
