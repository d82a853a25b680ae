"""Steps of training."""

from cvzoo.training.updaters.abstract import AbstractUpdater
from cvzoo.training.updaters.parallel_updater import ParallelUpdater
from cvzoo.training.updaters.standard_updater import StandardUpdater

__all__ = ["AbstractUpdater", "ParallelUpdater", "StandardUpdater"]
