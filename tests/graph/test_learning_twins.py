"""Networks that do more than compute learn the same, compiled or not: to the bits of losses, numbers and counts."""

import copy
import random
import warnings

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import optimizers
from cvzoo.autodiff.parameter import Parameter
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.chain import Chain


class Net(Chain):
    """Two convolutions and a normalization; `way` is its forward."""

    def __init__(self, way):
        self.way = way
        self.count = 0
        self.history = []
        self.generator = np.random.default_rng(3)
        with self.init_scope():
            self.a = L.Convolution2D(3, 8, 3, pad=1)
            self.n = L.BatchNormalization(8)
            self.b = L.Convolution2D(8, 8, 3, pad=1)
        self.add_persistent("counts", np.zeros(1))

    def forward(self, x):
        return self.way(self, x)


def standardized(net, x):
    w = net.a.W.array
    return net.b(F.convolution_2d(x, w - w.mean(axis=(1, 2, 3), keepdims=True), net.a.b, pad=1) + net.a(x))


def scaled(net, x):
    return net.b(F.relu(net.a(x))) * (float(net.b.b.data[0]) + 1)


def half_without_gradients(net, x):
    with no_backprop_mode():
        h = net.a(x)
    return net.b(h) + net.b(net.a(x))


def half_in_test_mode(net, x):
    with using_config("train", False):
        h = net.n(net.a(x))
    return net.b(h) + F.dropout(net.b(net.a(x)))


def forgetting(net, x):
    return net.b(F.forget(lambda h: F.dropout(F.relu(net.n(net.a(h)))), x))


def counting_in_place(net, x):
    net.counts += 1
    return net.b(net.a(x))


def counting(net, x):
    net.count += 1
    return net.b(net.a(x)) / net.count


def remembering(net, x):
    net.history.append(x.shape)
    return net.b(net.a(x)) / len(net.history)


def repeated(net, x, times):
    h = net.a(x)
    for _ in range(times):
        h = h + F.relu(net.b(h))
    return h


def raising(net, x):
    if not (x.__array__() == np.round(x.__array__() * 64) / 64).all():
        raise ValueError("only sixty-fourths")
    return net.b(net.a(x))


WAYS = {
    "a parameter's array is read": (standardized, "values are read in standardized"),
    "a number of a parameter is read": (scaled, "values are read in scaled"),
    "a part takes no gradients": (half_without_gradients, None),
    "a part is in test mode": (half_in_test_mode, None),
    "a part is forgotten": (forgetting, "gradient checkpointing"),
    "an array is counted up in place": (counting_in_place, "it changes the attribute counts"),
    "an attribute is counted up": (counting, "it changes the attribute count"),
    "a list grows": (remembering, "it changes the attribute history"),
    "its own generator draws": (lambda net, x: repeated(net, x, net.generator.integers(1, 4)), "attribute generator"),
    "numpy.random draws": (lambda net, x: repeated(net, x, np.random.randint(1, 4)), "numpy.random or random draws"),
    "random draws": (lambda net, x: repeated(net, x, random.randint(1, 4)), "numpy.random or random draws"),
    "it refuses other numbers": (raising, "it raises ValueError for other values"),
}


def photos(seed):
    return np.random.default_rng(seed).integers(-64, 64, (2, 3, 8, 8)).astype(np.float32) / 64


def steps(model):
    """Losses of some steps, and what numbers are drawn next."""
    set_seed(3)
    np.random.seed(4)
    random.seed(5)
    optimizer, losses = optimizers.MomentumSGD(lr=0.1).setup(model), []

    def lossfun(x):
        loss = F.average(model(x) ** 2)
        losses.append(loss.item())
        return loss

    for k in range(6):
        optimizer.update(lossfun, photos(k))
    return losses, model.count, model.history, np.random.rand(), random.random(), model.generator.random()


@pytest.mark.parametrize("name", WAYS)
def test_training_gives_the_bits_of_define_by_run(name):
    way, says = WAYS[name]
    set_seed(1)
    eager = Net(way)
    model = copy.deepcopy(eager)
    if says is None:
        assert model.compile(photos(9), train=True) is not None
    else:
        with pytest.warns(RuntimeWarning, match=f"Net.forward is not trained as a graph: .*{says}"):
            assert model.compile(photos(9), train=True) is None
    expected, got = steps(eager), steps(model)
    assert got == expected
    assert model.graphs()  # the whole, or its layers
    others = model.state_arrays()
    for path, array in eager.state_arrays().items():
        np.testing.assert_array_equal(others[path], array, err_msg=path)
    assert {type(each) for each in model.params()} == {Parameter}


def test_a_coincidence_does_not_hide_that_numbers_are_drawn():
    """One of two ways is drawn: two passes would agree half of the time."""
    for seed in range(12):
        model = Net(lambda net, x: repeated(net, x, np.random.randint(1, 3)))
        np.random.seed(seed)
        with pytest.warns(RuntimeWarning, match="numpy.random or random draws"):
            assert model.compile(photos(0), train=True) is None


def test_numbers_that_another_thread_draws_do_not_count(monkeypatch):
    model = Net(lambda net, x: net.b(net.a(x)))
    before, count = np.random.get_state, []

    def somebody_draws(*, legacy):
        if len(count) < 4:  # before and after each of the two passes that are recorded
            np.random.rand()
        count.append(1)
        return before(legacy=legacy)

    monkeypatch.setattr(np.random, "get_state", somebody_draws)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.compile(photos(0), train=True) is not None
    assert len(count) > 4
