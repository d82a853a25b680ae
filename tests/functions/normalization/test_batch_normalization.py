"""Batch normalization with the batch's statistics and with given ones."""

import numpy as np
import pytest

from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError, ValueRangeError
from cvzoo.functions.math.arithmetic import multiply
from cvzoo.functions.math.power import square
from cvzoo.functions.math.sum import sum
from cvzoo.functions.normalization.batch_normalization import batch_normalization
from cvzoo.functions.normalization.fixed_batch_normalization import fixed_batch_normalization

SHAPES = {"rows": (6, 3), "photos": (2, 3, 3, 2), "sequences": (2, 3, 4), "one photo": (1, 3, 2, 3)}


def _arrays(shape, dtype="float64"):
    random = np.random.default_rng(0)
    x = random.normal(2, 3, size=shape)
    return x.astype(dtype), random.normal(size=3).astype(dtype), random.normal(size=3).astype(dtype)


def _across(v, ndim):
    return v.reshape((-1,) + (1,) * (ndim - 2))


def _by_numpy(x, gamma, beta, mean, var, eps=2e-5):
    mean, var, gamma, beta = (_across(v, x.ndim) for v in (mean, var, gamma, beta))
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


def _moments(x):
    axes = (0, *range(2, x.ndim))
    return x.mean(axes), x.var(axes)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_output_is_what_the_formula_says(shape, dtype, backend):
    x, gamma, beta = _arrays(shape, dtype)
    mean, var = _moments(x)
    wanted = _by_numpy(x, gamma, beta, mean, var)
    np.testing.assert_allclose(batch_normalization(x, gamma, beta).array, wanted, rtol=1e-4, atol=1e-5)
    fixed = fixed_batch_normalization(x, gamma, beta, mean, var)
    np.testing.assert_allclose(fixed.array, wanted, rtol=1e-4, atol=1e-5)
    assert fixed.dtype == dtype


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_derivatives(shape, backend):
    x, gamma, beta = _arrays(shape)
    check_backward(batch_normalization, (x, gamma, beta))
    check_double_backward(batch_normalization, (x, gamma, beta))
    mean, var = _moments(x)
    check_backward(fixed_batch_normalization, (x, gamma, beta, mean, var))
    check_double_backward(fixed_batch_normalization, (x, gamma, beta, mean, var))


def test_third_derivatives():
    """The gradient of a gradient penalty's own gradient: the second order is made of differentiable functions too."""
    x, gamma, beta = _arrays((4, 3))
    weights = np.random.default_rng(1).normal(size=x.shape)

    def penalty(x, gamma, beta):
        y = multiply(square(batch_normalization(x, gamma, beta)), weights)
        (gx,) = grad([sum(y)], [x], enable_double_backprop=True)
        return sum(square(gx))

    check_double_backward(penalty, (x, gamma, beta), rtol=1e-3, atol=1e-3, eps=1e-4)


def test_a_gamma_of_zero_has_derivatives():
    x, gamma, beta = _arrays((4, 3))
    check_backward(batch_normalization, (x, gamma * 0, beta))
    check_double_backward(batch_normalization, (x, gamma * 0, beta))


@pytest.mark.parametrize("wanted", [(0,), (1,), (2,), (0, 2), (3,), (4,)], ids=str)
def test_gradients_are_taken_of_some_inputs_only(wanted):
    x, gamma, beta = _arrays((4, 3))
    mean, var = _moments(x)
    arrays = (x, gamma, beta, mean, var)
    no_grads = [i not in wanted for i in range(5)]
    check_backward(fixed_batch_normalization, arrays, no_grads=no_grads)
    check_double_backward(fixed_batch_normalization, arrays, no_grads=no_grads)
    if max(wanted) < 3:
        check_backward(batch_normalization, arrays[:3], no_grads=no_grads[:3])
        check_double_backward(batch_normalization, arrays[:3], no_grads=no_grads[:3])


def test_running_statistics_move_toward_the_batch_s_with_unbiased_variance(backend):
    x, gamma, beta = _arrays((2, 3, 3, 2), "float32")
    mean, var = np.full(3, 10, "f"), np.full(3, 20, "f")
    batch_normalization(x, gamma, beta, running_mean=mean, running_var=var, decay=0.75)
    np.testing.assert_allclose(mean, 7.5 + 0.25 * x.mean((0, 2, 3)), rtol=1e-5)
    np.testing.assert_allclose(var, 15 + 0.25 * x.var((0, 2, 3), ddof=1), rtol=1e-5)


def test_running_statistics_stay_while_a_block_is_recomputed():
    x, gamma, beta = _arrays((4, 3))
    mean, var = np.zeros(3), np.ones(3)
    with using_config("in_recomputing", True):
        batch_normalization(x, gamma, beta, running_mean=mean, running_var=var)
    np.testing.assert_array_equal(mean, 0)
    np.testing.assert_array_equal(var, 1)


def test_one_value_a_channel_gives_beta_and_finite_statistics(backend):
    x = np.ones((1, 3, 1, 1), "f")
    mean, var = np.zeros(3, "f"), np.ones(3, "f")
    y = batch_normalization(x, np.ones(3, "f"), np.full(3, 5, "f"), running_mean=mean, running_var=var)
    np.testing.assert_array_equal(y.array, np.full((1, 3, 1, 1), 5, "f"))
    assert np.isfinite(mean).all()
    assert np.isfinite(var).all()


def test_axes_may_be_named(backend):
    random = np.random.default_rng(0)
    x = random.normal(size=(3, 2, 4))
    gamma, beta = random.normal(size=(2, 4)), random.normal(size=(2, 4))
    mean, var = np.zeros((2, 4)), np.ones((2, 4))
    y = batch_normalization(x, gamma, beta, axis=0, running_mean=mean, running_var=var)
    wanted = gamma * (x - x.mean(0)) / np.sqrt(x.var(0) + 2e-5) + beta
    np.testing.assert_allclose(y.array, wanted, rtol=1e-6)
    np.testing.assert_allclose(mean, 0.1 * x.mean(0))
    gamma, beta = random.normal(size=4), random.normal(size=4)
    y = batch_normalization(x, gamma, beta, axis=(0, 1))
    wanted = gamma * (x - x.mean((0, 1))) / np.sqrt(x.var((0, 1)) + 2e-5) + beta
    np.testing.assert_allclose(y.array, wanted, rtol=1e-6)
    check_backward(lambda *a: batch_normalization(*a, axis=(0, -2)), (x, gamma, beta))
    check_double_backward(lambda *a: batch_normalization(*a, axis=(0, -2)), (x, gamma, beta))


def test_inputs_are_left_as_they_are_and_memory_order_does_not_matter(backend):
    x, gamma, beta = _arrays((2, 3, 3, 2), "float32")
    before = x.copy()
    wanted = batch_normalization(x, gamma, beta).array
    turned = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    np.testing.assert_allclose(batch_normalization(turned, gamma, beta).array, wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(x, before)


def test_bad_calls_teach():
    x, gamma, beta = _arrays((4, 3))
    with pytest.raises(ShapeError, match="gamma needs one number for each of x's 3 channels"):
        batch_normalization(x, np.ones(4), beta)
    with pytest.raises(ShapeError, match="no channels"):
        batch_normalization(x[0], gamma, beta)
    with pytest.raises(ShapeError, match="running statistic"):
        batch_normalization(x, gamma, beta, running_mean=np.zeros(2))
    with pytest.raises(DtypeError, match="x and beta must have one dtype"):
        batch_normalization(x, gamma, beta.astype("f"))
    with pytest.raises(ValueRangeError, match="eps"):
        batch_normalization(x, gamma, beta, eps=0)
    with pytest.raises(ValueRangeError, match="axis"):
        batch_normalization(x, gamma, beta, axis=(0, 2))
    with pytest.raises(ShapeError, match="axis=1 keeps"):
        batch_normalization(x, gamma, beta, axis=1)
    with pytest.raises(ShapeError, match="var needs"):
        fixed_batch_normalization(x, gamma, beta, gamma, np.ones(2))
    with pytest.raises(GraphError, match="no value"):
        batch_normalization(x, Parameter(), beta)


def test_gradients_are_filled_by_an_ordinary_sweep(backend):
    x, gamma, beta = (Variable(v) for v in _arrays((2, 3, 3, 2), "float32"))
    sum(square(batch_normalization(x, gamma, beta))).backward()
    assert x.grad.shape == x.shape
    np.testing.assert_allclose(beta.grad, 2 * beta.array * 12, rtol=1e-4)
