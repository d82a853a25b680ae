"""A small network, batches and optimizers, by which several ranks are compared with one process."""

import numpy as np

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import optimizers

MAKES = {
    "SGD": lambda: optimizers.SGD(lr=0.1),
    "MomentumSGD": lambda: optimizers.MomentumSGD(lr=0.1),
    "Adam": lambda: optimizers.Adam(alpha=0.01),
    "LARS": lambda: optimizers.LARS(lr=0.5),
}


class Net(cvzoo.Chain):
    """A small network whose branches can be chosen by call."""

    def __init__(self, n_in=2):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(n_in, 4, 3, pad=1)
            self.left = L.Linear(4 * 25, 3)
            self.right = L.Linear(4 * 25, 3)
            self.never = L.Linear(4, 5)

    def forward(self, x, t, branches="left right"):
        h = F.relu(self.conv(x))
        ys = [getattr(self, name)(h) for name in branches.split()]
        return F.softmax_cross_entropy(sum(ys[1:], ys[0]), t)


def classifier():
    """A network that `compile(train=True)` records, whose loss is outside of it."""
    return L.Classifier(cvzoo.Sequential(L.Convolution2D(2, 4, 3, pad=1), F.relu, L.Linear(4 * 25, 3)))


def batches(dtype, n_step=4, n=7):
    rng = np.random.default_rng(0)
    return [
        (rng.normal(size=(n, 2, 5, 5)).astype(dtype), rng.integers(0, 3, n).astype(np.int32)) for _ in range(n_step)
    ]


def assert_same(found, expected, tolerance):
    assert found.keys() == expected.keys()
    for path, array in found.items():
        scale = max(1.0, np.abs(expected[path]).max())
        assert np.abs(array - expected[path]).max() <= tolerance * scale, path
