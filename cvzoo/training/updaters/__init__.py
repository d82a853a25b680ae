"""Updaters: training steps."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.training.updaters.abstract import AbstractUpdater
    from cvzoo.training.updaters.parallel_updater import ParallelUpdater
    from cvzoo.training.updaters.standard_updater import StandardUpdater

__all__ = ["AbstractUpdater", "ParallelUpdater", "StandardUpdater"]

import_on_demand(__name__)
