"""Blocks computed twice."""

import gc
import weakref

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward, check_double_backward
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import get_random_state, set_seed
from cvzoo.config.switches import no_backprop_mode, switches, using_config
from cvzoo.errors.exceptions import DtypeError


def _x(shape=(3, 4), seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def test_the_result_and_both_gradients_are_those_without_it():
    def block(x, y):
        return F.tanh(x * y) + F.exp(y) * x, F.sigmoid(x - y)

    check_backward(lambda x, y: F.forget(block, x, y), (_x(), _x(seed=1)))
    check_double_backward(lambda x, y: F.forget(block, x, y), (_x(), _x(seed=1)), rtol=1e-3, atol=1e-4)
    x, y = Variable(_x()), Variable(_x(seed=1))
    for a, b in zip(F.forget(block, x, y), block(x, y), strict=True):
        assert np.array_equal(a.array, b.array)


def test_a_block_with_one_result_gives_one():
    y = F.forget(F.tanh, Variable(_x()))
    assert isinstance(y, Variable)


def test_parameters_of_the_block_get_their_gradients():
    W, b = Parameter(_x((2, 4), 1)), Parameter(_x((2,), 2))
    for x in (_x(), Variable(_x())):  # an array takes no gradient; the parameters still do
        W.cleargrad()
        b.cleargrad()
        F.sum(F.forget(lambda x: F.tanh(x @ W.T + b), x) ** 2).backward()
        gW, gb = W.grad, b.grad
        W.cleargrad()
        b.cleargrad()
        F.sum(F.tanh(x @ W.T + b) ** 2).backward()
        assert_allclose(gW, W.grad, rtol=1e-12)
        assert_allclose(gb, b.grad, rtol=1e-12)
    check_backward(lambda x: F.forget(lambda x: F.tanh(x @ W.T + b), x), _x(), params=(W, b))
    check_double_backward(lambda x: F.forget(lambda x: F.tanh(x @ W.T + b), x), _x(), params=(W, b), rtol=1e-3)
    (found,) = grad([F.sum(F.forget(lambda x: x @ W.T + b, _x()))], [W])
    assert found.shape == W.shape


def test_a_parameter_without_a_shape_may_get_it_in_the_block():
    W = Parameter(0.5)

    def block(x):
        if not W.is_initialized:
            W.initialize((2, x.shape[1]))
        return x @ W.T

    F.sum(F.forget(block, _x().astype("float32"))).backward()
    assert W.grad.shape == (2, 4)


def test_a_parameter_before_and_inside_the_block_is_counted_once_each_way():
    W = Parameter(np.array([1.5, -0.5]))

    def once(use):
        W.cleargrad()
        x = W * 2
        F.sum(use(lambda x: F.exp(x) * W + x, x)).backward()
        return W.grad

    assert_allclose(once(F.forget), once(lambda block, x: block(x)), rtol=1e-12)
    check_double_backward(
        lambda s: F.forget(lambda x: F.exp(x) * W + x, W * s), np.array([0.7, 0.3]), params=(W,), rtol=1e-3, atol=1e-4
    )


def test_values_from_outside_that_were_computed_pass_their_gradient_on():
    a = Variable(np.array([0.5, 1.0]))
    z = F.exp(a)
    F.sum(F.forget(lambda x: x * z, a)).backward()
    assert_allclose(a.grad, np.exp(a.array) * (1 + a.array), rtol=1e-12)


def test_dropout_draws_the_same_mask_again():
    x = Variable(_x((50, 4)))
    set_seed(3)
    y = F.forget(lambda x: F.dropout(x, 0.5), x)
    after = get_random_state()
    mask = y.array != 0
    F.dropout(x)  # the generator moves on
    here = get_random_state()
    assert after != here
    F.sum(y).backward()
    assert np.array_equal(x.grad != 0, mask)
    assert get_random_state() == here  # and computing again does not move it
    check_backward(lambda x: F.forget(lambda x: F.dropout(F.tanh(x)), x), _x())
    check_double_backward(lambda x: F.forget(lambda x: F.dropout(F.tanh(x)), x), _x(), rtol=1e-3, atol=1e-4)


def test_the_block_is_told_when_it_is_computed_again_and_trains_as_before():
    seen = []

    def block(x):
        seen.append((switches.in_recomputing, switches.train))
        return x * 2

    x = Variable(_x())
    with using_config("train", False):
        y = F.sum(F.forget(block, x))
    y.backward()
    assert seen == [(False, False), (True, False)]
    assert not switches.in_recomputing


def test_blocks_inside_blocks(backend):
    W = Parameter(_x((4, 4), 1) * 0.3)

    def inner(x):
        return F.tanh(F.dropout(x @ W, 0.3))

    def outer(x):
        return F.forget(inner, F.forget(inner, x)) + x

    check_backward(lambda x: F.forget(outer, x), _x(), params=(W,))
    check_double_backward(lambda x: F.forget(outer, x), _x(), params=(W,), rtol=1e-3, atol=1e-4)


def test_without_backprop_the_block_runs_once_and_nothing_is_kept():
    calls = []

    def block(x):
        calls.append(1)
        return x * 2

    with no_backprop_mode():
        y = F.forget(block, Variable(_x()))
    assert y.creator is None
    assert calls == [1]


class _Watched(FunctionNode):
    alive: list = []

    def forward(self, inputs):
        self.retain_outputs((0,))
        y = inputs[0] * 1.5
        self.alive.append(weakref.ref(y))
        return (y,)

    def backward(self, indexes, gys):
        return (gys[0] * 1.5,)


def _deep(x):
    for _ in range(6):
        (x,) = _Watched().apply((x,))
    return x


def test_what_is_computed_on_the_way_dies_and_nothing_hangs_in_cycles():
    gc.collect()
    gc.disable()
    try:
        x = Variable(_x())
        _Watched.alive.clear()
        y = F.forget(_deep, x)
        assert sum(ref() is not None for ref in _Watched.alive) == 1  # the result
        F.sum(y).backward()
        assert_allclose(x.grad, np.full((3, 4), 1.5**6))
        del y
        assert sum(ref() is not None for ref in _Watched.alive) == 0
    finally:
        gc.enable()


def test_what_is_no_variable_is_refused():
    with pytest.raises(DtypeError, match="Variable"):
        F.forget(lambda x: x.array, Variable(_x()))
