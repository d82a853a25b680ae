"""A pass without work: nothing runs where gradients are taken, and what is kept or given stays right."""

import types
import warnings

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import optimizers
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.onednn.pool import pool
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.graph.idle_pass import idle_pass
from cvzoo.links.chain import Chain

FORWARD = types.SimpleNamespace(in_backward=False, trains=True)  # a pass that is recorded, on its way there


def photos(seed=0):
    return np.random.default_rng(seed).normal(size=(2, 16, 8, 8)).astype(np.float32)


def test_primitives_make_zeros_meanwhile_and_numbers_again_afterwards():
    conv, x = L.Convolution2D(16, 16, 3), Variable(photos())
    with idle_pass(FORWARD):
        assert not conv(x).array.any()
    assert conv(x).array.any()


def test_what_is_computed_without_gradients_is_right_since_it_may_be_kept():
    conv, x = L.Convolution2D(16, 16, 3), photos()
    with no_backprop_mode():
        expected = conv(x).array.copy()
        conv.W.touch()
        with idle_pass(FORWARD):
            assert np.array_equal(conv(x).array, expected)
        assert np.array_equal(conv(x).array, expected)


def test_a_backward_pass_is_idle_too():
    with no_backprop_mode(), idle_pass(types.SimpleNamespace(in_backward=True, trains=True)):
        assert not L.Convolution2D(16, 16, 3)(photos()).array.any()


def test_in_inference_only_convolutions_and_products_are_idle_and_cached_weights_are_right():
    inference = types.SimpleNamespace(in_backward=False, trains=False)
    conv, x = L.Convolution2D(16, 16, 3), photos()
    with no_backprop_mode():
        expected = conv(x).array.copy()
        conv.W.touch()
        with idle_pass(inference):
            assert not conv(x).array.any()
            assert F.relu(photos()).array.any()
        assert conv.W._packs
        assert np.array_equal(conv(x).array, expected)


def test_statistics_that_are_given_stay():
    mean, var = np.full(16, 2, np.float32), np.full(16, 3, np.float32)
    one = Variable(np.ones(16, np.float32))
    with idle_pass(FORWARD):
        F.fixed_batch_normalization(Variable(photos()), one, one, mean, var)
    assert (mean == 2).all()
    assert (var == 3).all()


def test_an_error_ends_it():
    with pytest.raises(KeyError), idle_pass(FORWARD):
        raise KeyError
    assert F.relu(Variable(photos())).array.any()


class WantsNumbers(FunctionNode):
    """x as it is; raises ArithmeticError where all is zero."""

    def forward(self, inputs):
        (x,) = inputs
        if not x.any():
            raise ArithmeticError
        return (x.copy(),)

    def backward(self, indexes, gys):
        return gys


class Largest(FunctionNode):
    """x times its largest number, of which the gradient knows nothing."""

    def forward(self, inputs):
        (x,) = inputs
        self.largest = float(x.max())
        return (x * np.float32(self.largest),)

    def backward(self, indexes, gys):
        return (gys[0] * self.largest,)


class Net(Chain):
    """A convolution, a function, and a convolution again."""

    def __init__(self, function, n_channel=16):
        self.function = function
        with self.init_scope():
            self.a = L.Convolution2D(n_channel, 16, 3, pad=1)
            self.b = L.Convolution2D(16, 4, 1)

    def forward(self, x):
        return self.b(self.function().apply((self.a(x),))[0])


@pytest.mark.parametrize("function", [WantsNumbers, Largest])
def test_functions_that_want_numbers_learn_the_same(function):
    losses = []
    for compiled in (False, True):
        set_seed(0)
        model = Net(function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # it may stay as it is
            graph = model.compile(photos(), train=True) if compiled else None
        if compiled and function is WantsNumbers:
            assert graph is not None
        optimizer = optimizers.SGD(lr=1e-6).setup(model)
        found = []
        for k in range(4):
            loss = F.sum(F.square(model(photos(k))))
            model.cleargrads()
            loss.backward()
            optimizer.update()
            found.append(loss.item())
        losses.append(found)
    assert losses[0] == losses[1]


def test_recording_leaves_no_reordered_parameters_behind():
    model = Net(WantsNumbers)
    with no_backprop_mode(), using_config("train", False):
        expected = model(photos()).array.copy()
        assert model.a.W._packs
    assert model.compile(photos(), train=True) is not None
    assert not model.a.W._packs
    with no_backprop_mode(), using_config("train", False):
        assert np.array_equal(model(photos()).array, expected)


def test_in_inference_others_are_idle_where_their_results_are_large():
    inference = types.SimpleNamespace(in_backward=False, trains=False)
    x = np.ones((1, 64, 80, 80), np.float32)
    with no_backprop_mode():
        assert F.relu(x).array.all()
        pool.release()  # memory that was never touched is zero
        with idle_pass(inference):
            assert not F.relu(x).array.any()
            assert F.relu(x[:, :1]).array.all()
