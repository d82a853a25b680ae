"""Frozen parts: no parameter and no running statistic changes, and training sees them as inference does."""

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import optimizers
from cvzoo.errors import ValueRangeError


class Net(cvzoo.Chain):
    """Two stages with batch normalization and a head."""

    def __init__(self):
        with self.init_scope():
            self.stem = cvzoo.Sequential(L.Convolution2D(3, 4, 3), L.BatchNormalization(4), F.relu)
            self.body = cvzoo.Sequential(L.Convolution2D(4, 5, 3), L.BatchNormalization(5), F.relu)
            self.head = L.Linear(5, 2)

    def forward(self, x, t):
        h = F.mean(self.body(self.stem(x)), axis=(2, 3))
        return F.softmax_cross_entropy(self.head(h), t)


@pytest.fixture
def net():
    cvzoo.set_seed(0)
    return Net()


X = np.random.default_rng(0).normal(1, 2, (4, 3, 8, 8)).astype(np.float32)
T = np.array([0, 1, 1, 0], np.int32)


def changed(net, compiles=False):
    """The paths that three updates change."""
    before = {path: np.array(array) for path, array in net.state_arrays().items()}
    if compiles:
        net.compile(train=True)
    optimizer = optimizers.SGD(0.5).setup(net)
    for _ in range(3):
        optimizer.update(net, X, T)
    return {path for path, array in net.state_arrays().items() if not np.array_equal(array, before[path])}


HEAD = {"head/W", "head/b"}
BODY = {"body/0/W", "body/1/gamma", "body/1/beta", "body/1/avg_mean", "body/1/avg_var"}


@pytest.mark.parametrize("compiles", [False, True])
def test_frozen_stages_do_not_change(net, compiles):
    assert L.freeze(net, "stem") == 4
    assert changed(net, compiles) - {"body/0/b"} == BODY | HEAD


def test_without_names_all_is_frozen_and_with_norm_only_nothing_but_normalization(net):
    L.freeze(net)
    assert changed(net) == set()
    L.unfreeze(net)
    assert L.freeze(net, norm_only=True) == 4
    assert changed(net) == HEAD | {"stem/0/W", "stem/0/b", "body/0/W", "body/0/b"}


def test_unfreezing_is_the_reverse(net):
    L.freeze(net, "stem", "body/1")
    L.unfreeze(net)
    assert changed(net) >= BODY | HEAD


def test_a_frozen_stage_gives_in_training_what_it_gives_in_inference(net):
    L.freeze(net, "stem")
    train = net.stem(X).array
    with cvzoo.using_config("train", False):
        np.testing.assert_array_equal(train, net.stem(X).array)


def test_a_name_that_is_not_there_is_an_error_with_those_that_are(net):
    with pytest.raises(ValueRangeError, match=r"(?s)no part stam, boby.*body, head, stem"):
        L.freeze(net, "stam", "boby", "head")
    assert net.head.W.requires_grad
