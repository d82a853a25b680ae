"""Small networks, and calls of them as written and as replayed."""

import copy

import numpy as np

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.graph.trees import flatten
from cvzoo.links.chain import Chain


class Small(Chain):
    """A convolution, a normalization, a residual, a matrix."""

    def __init__(self):
        self.slope = 0.1
        with self.init_scope():
            self.conv = L.Convolution2D(3, 8, 3, pad=1)
            self.bn = L.BatchNormalization(8)
            self.fc = L.Linear(8, 5)

    def forward(self, x):
        h = F.leaky_relu(self.bn(self.conv(x)), self.slope)
        h = h + F.relu(self.conv(x))
        return self.fc(F.average(h, axis=(2, 3)))


class Doing(Chain):
    """A convolution from 3 to 4 channels, and a function (link, *arguments) that says what to do with it."""

    def __init__(self, what):
        self.what = what
        with self.init_scope():
            self.conv = L.Convolution2D(3, 4, 3, pad=1)

    def forward(self, *args):
        return self.what(self, *args)


def photos(seed=0, shape=(2, 3, 9, 11)):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def eager(model, *args):
    """What a copy of the model gives without any graph."""
    twin = copy.deepcopy(model)
    twin.uncompile()
    with using_config("train", False), no_backprop_mode():
        return twin(*args)


def replayed(model, *args):
    with using_config("train", False), no_backprop_mode():
        return model(*args)


def arrays_of(result):
    """The arrays in a tree of results."""
    leaves = []
    flatten(result, leaves)
    return [each.array if isinstance(each, Variable) else each for each in leaves]


def assert_near(got, expected):
    """The same tree of results, within 1e-5."""
    assert flatten(got, []) == flatten(expected, [])
    for a, b in zip(arrays_of(got), arrays_of(expected)):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        finite = np.abs(b[np.isfinite(b)])
        scale = finite.max() if finite.size else 1
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * scale)
