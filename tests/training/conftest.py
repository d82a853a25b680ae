"""A small network that learns something in a few iterations."""

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.iterators import SerialIterator
from cvzoo.optimizers import MomentumSGD
from cvzoo.training import StandardUpdater, Trainer


class Net(cvzoo.Chain):
    """(B, 4) -> (B, 3), with what draws random numbers and what keeps running values."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.fc1 = L.Linear(4, 8)
            self.bn = L.BatchNormalization(8)
            self.fc2 = L.Linear(8, 3)

    def forward(self, x):
        return self.fc2(F.dropout(F.relu(self.bn(self.fc1(x))), 0.2))


def examples(n=22, seed=0):
    """(x, t), x near the t-th corner."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    points = rng.normal(0, 0.7, (n, 4)) + 2 * np.eye(3, 4)[labels]
    return [(x, t) for x, t in zip(points.astype(np.float32), labels.astype(np.int32))]


class Small:
    """A trainer of `Net`, and what it is made of."""

    def __init__(self, out, stop=(3, "epoch"), *, seed=0, dataset=None):
        cvzoo.set_seed(seed)
        self.train = examples() if dataset is None else dataset
        self.test = examples(10, seed=1)
        self.model = L.Classifier(Net())
        self.optimizer = MomentumSGD(lr=0.1).setup(self.model)
        self.iterator = SerialIterator(self.train, 5, seed=seed + 1)
        self.updater = StandardUpdater(self.iterator, self.optimizer)
        self.trainer = Trainer(self.updater, stop, out=out)

    def test_iterator(self):
        return SerialIterator(self.test, 4, repeat=False, shuffle=False, seed=0)

    def weights(self):
        """Every value by name, copied."""
        return {name: np.array(array) for name, array in self.model.state_arrays().items()}


@pytest.fixture
def small(tmp_path):
    """A function (stop=(3, "epoch"), out="result", **more) -> Small."""
    return lambda stop=(3, "epoch"), out="result", **more: Small(tmp_path / out, stop, **more)
