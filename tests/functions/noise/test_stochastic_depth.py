"""Dropped branches."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import get_random_state, set_seed, using_random_state
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError


def test_a_photo_is_dropped_whole_or_scaled_whole(backend):
    set_seed(0)
    x = np.random.default_rng(0).uniform(1, 2, (1000, 2, 3, 3)).astype("float32")
    y = F.stochastic_depth(x, 0.3).array
    dropped = (y == 0).all(axis=(1, 2, 3))
    assert abs(dropped.mean() - 0.3) < 0.05
    np.testing.assert_allclose(y[~dropped], x[~dropped] / 0.7, rtol=1e-6)
    assert y.dtype == "float32"


@pytest.mark.parametrize("shape", [(4,), (3, 2), (2, 3, 4, 5)])
def test_any_shape_with_a_batch_axis_is_taken(shape):
    x = np.ones(shape, "float64")
    y = F.stochastic_depth(x, 0.5).array
    assert y.shape == shape
    assert set(np.unique(y)) <= {0.0, 2.0}


def test_outside_of_training_x_itself_comes_back_and_nothing_is_drawn():
    x = Variable(np.ones((3, 2), "float32"))
    state = get_random_state()
    with using_config("train", False):
        assert F.stochastic_depth(x, 0.5) is x
    assert F.stochastic_depth(x, 0) is x
    assert get_random_state() == state


def test_a_ratio_of_one_drops_everything():
    assert not F.stochastic_depth(np.ones((5, 2), "float32"), 1).array.any()


def test_the_gradient_is_dropped_where_the_branch_is(backend):
    x = np.random.default_rng(0).normal(size=(5, 2, 2, 2))
    state = get_random_state()

    def same_draw(x):
        with using_random_state(state):
            return F.stochastic_depth(x, 0.4)

    check_backward(same_draw, x)
    check_double_backward(lambda x: same_draw(x) ** 2, x, rtol=1e-3, atol=1e-4)


def test_bad_input_is_told():
    for ratio in (-0.1, 1.1):
        with pytest.raises(ValueRangeError, match="ratio"):
            F.stochastic_depth(np.ones((2, 2), "float32"), ratio)
    with pytest.raises(ShapeError, match="batch axis"):
        F.stochastic_depth(np.ones((), "float32"), 0.5)
    with pytest.raises(DtypeError):
        F.stochastic_depth(np.ones((2, 2), "int32"), 0.5)
