"""A trainer that counts instead of learning."""

import pytest

from cvzoo.training.trainer import Trainer
from cvzoo.training.updaters.abstract import AbstractUpdater


class CountingUpdater(AbstractUpdater):
    """Four iterations an epoch; `act(iteration)` may report values."""

    def __init__(self, act=None):
        self.iteration = 0
        self.act = act

    def update(self):
        self.iteration += 1
        if self.act is not None:
            self.act(self.iteration)

    @property
    def epoch(self):
        return self.iteration // 4

    @property
    def epoch_detail(self):
        return self.iteration / 4

    @property
    def previous_epoch_detail(self):
        return max(self.iteration - 1, 0) / 4

    @property
    def is_new_epoch(self):
        return self.iteration % 4 == 0

    def get_optimizer(self, name):
        raise KeyError(name)

    def get_all_optimizers(self):
        return {}

    def state(self):
        return {"iteration": self.iteration}

    def load_state(self, state):
        self.iteration = state["iteration"]


@pytest.fixture
def counting_trainer(tmp_path):
    """A function (extensions, act=None, until=(2, "epoch"), **more) -> a trainer that writes to tmp_path."""

    def make(extensions, act=None, until=(2, "epoch"), **more):
        return Trainer(CountingUpdater(act), until, out=tmp_path, extensions=extensions, **more)

    return make
