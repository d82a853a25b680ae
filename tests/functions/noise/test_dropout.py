"""Dropped values."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import get_random_state, set_seed, using_random_state
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError


def test_about_the_asked_part_is_dropped_and_the_mean_stays(backend):
    set_seed(0)
    x = np.ones((100, 100), "float32")
    y = F.dropout(x, 0.3).array
    assert y.dtype == "float32"
    assert set(np.unique(y).tolist()) == {0.0, float(np.float32(1 / 0.7))}
    assert abs((y == 0).mean() - 0.3) < 0.02
    assert abs(y.mean() - 1) < 0.03


def test_outside_of_training_x_itself_comes_back():
    x = Variable(np.ones(3, "float32"))
    state = get_random_state()
    with using_config("train", False):
        assert F.dropout(x) is x
        assert F.dropout(x, return_mask=True) == (x, None)
    assert get_random_state() == state


def test_the_same_state_draws_the_same_mask():
    x = np.ones((4, 5), "float32")
    state = get_random_state()
    with using_random_state(state):
        a = F.dropout(x).array
        b = F.dropout(x).array
    with using_random_state(state):
        assert np.array_equal(F.dropout(x).array, a)
    assert not np.array_equal(a, b)


def test_the_gradient_is_dropped_where_the_value_is(backend):
    for shape in ((3, 4), (2, 3, 2, 2)):
        x = np.random.default_rng(0).normal(size=shape)
        check_backward(lambda x: F.dropout(x, 0.4), x)
        check_double_backward(lambda x: F.dropout(x, 0.4) ** 2, x, rtol=1e-3, atol=1e-4)


def test_a_mask_can_be_had_and_given():
    x = np.random.default_rng(0).normal(size=(3, 4))
    y, mask = F.dropout(x, return_mask=True)
    assert_allclose(y, x * mask)
    assert_allclose(F.dropout(x, mask=mask), y.array)
    with pytest.raises(ShapeError, match="mask"):
        F.dropout(x, mask=mask[:2])


def test_a_ratio_of_zero_drops_nothing():
    x = np.ones(5, "float32")
    assert np.array_equal(F.dropout(x, 0).array, x)


@pytest.mark.parametrize("ratio", [1, -0.1, 1.5, float("nan")])
def test_ratios_that_are_no_probability_are_refused(ratio):
    with pytest.raises(ValueRangeError, match="probability"):
        F.dropout(np.ones(3), ratio)


def test_integers_are_refused():
    with pytest.raises(DtypeError):
        F.dropout(np.arange(3))


def test_gaussian_has_the_mean_and_the_variance_asked_for():
    set_seed(0)
    mean, ln_var = np.full(20000, 2.0), np.full(20000, np.log(9.0))
    y = F.gaussian(mean, ln_var).array
    assert abs(y.mean() - 2) < 0.1
    assert abs(y.std() - 3) < 0.1
    x = np.random.default_rng(0).normal(size=(2, 3, 2))
    check_backward(F.gaussian, (x, x * 0.3))
    check_double_backward(F.gaussian, (x, x * 0.3), rtol=1e-3, atol=1e-4)
    assert F.gaussian(x.astype("float32"), x.astype("float32")).dtype == "float32"
    with pytest.raises(ShapeError):
        F.gaussian(x, x[:1])
