"""Networks for optimizers to work on."""

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L


class Parameters(cvzoo.Link):
    """Parameters by name, nothing else; dtype None keeps that of the arrays."""

    def __init__(self, arrays, dtype="float32"):
        with self.init_scope():
            for name, array in arrays.items():
                param = cvzoo.Parameter(0, np.shape(array))  # a 0-d array alone would be a number without a shape
                param.array = np.array(array, dtype)
                setattr(self, name, param)


def give_gradients(link, seed):
    rng = np.random.default_rng(seed)
    for param in link.params(False):
        param.grad = np.asarray(rng.normal(size=param.shape), param.dtype)


class Network(cvzoo.Chain):
    """A small classifier: a convolution, a normalization, a lazy layer."""

    def __init__(self):
        with self.init_scope():
            self.conv = L.Convolution2D(2, 8, 3)
            self.bn = L.BatchNormalization(8)
            self.fc = L.Linear(None, 4)

    def forward(self, x, t):
        h = F.relu(self.bn(self.conv(x)))
        return F.softmax_cross_entropy(self.fc(h), t)


@pytest.fixture
def make_parameters():
    return Parameters


@pytest.fixture
def make_network():
    def make(seed=0):
        cvzoo.set_seed(seed)
        return Network()

    return make


@pytest.fixture
def give():
    return give_gradients


@pytest.fixture
def batches():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(12, 6, 2, 8, 8)).astype("float32")
    t = rng.integers(0, 4, (12, 6)).astype("int32")
    return list(zip(x, t))
