"""Reductions along axes."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError

AXES = [None, 0, 1, -1, (0, 2), (-1, 0), (0, 1, 2), ()]


def _distinct(shape, seed=0):
    """Values far enough apart that a step of the gradient check changes no order."""
    size = int(np.prod(shape))
    return (np.random.default_rng(seed).permutation(size) * 0.1 - 0.05 * size + 0.03).reshape(shape)


def _logsumexp(x, axis):
    return np.log(np.exp(x).sum(axis))


REDUCTIONS = {
    "sum": (F.sum, np.sum),
    "mean": (F.mean, np.mean),
    "average": (F.average, np.mean),
    "max": (F.max, np.max),
    "min": (F.min, np.min),
    "prod": (F.prod, np.prod),
    "logsumexp": (F.logsumexp, _logsumexp),
    "norm": (F.norm, lambda x, axis: np.sqrt((x * x).sum(axis))),
}


@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_numpys(name, axis, backend):
    function, formula = REDUCTIONS[name]
    for dtype, rtol in (("float32", 1e-5), ("float64", 1e-12)):
        x = _distinct((2, 3, 4)).astype(dtype)
        y = function(Variable(x), axis=axis)
        assert y.dtype == dtype
        assert_allclose(y, formula(x, axis=axis), rtol=rtol, atol=1e-6)
        if name != "logsumexp":
            kept = function(x, axis=axis, keepdims=True)
            assert kept.shape == np.sum(x, axis=axis, keepdims=True).shape
            assert_allclose(kept.array.ravel(), y.array.ravel())


@pytest.mark.parametrize("axis", [None, 1, (0, 2)], ids=str)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_gradients_agree_with_numbers(name, axis):
    function, _ = REDUCTIONS[name]
    x = _distinct((2, 3, 2))
    check_backward(lambda x: function(x, axis=axis), x)
    check_double_backward(lambda x: function(x, axis=axis), x, rtol=1e-3, atol=1e-4)
    if name != "logsumexp":
        check_backward(lambda x: function(x, axis=axis, keepdims=True), x)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_axes_that_are_not_there_are_refused(name):
    function, _ = REDUCTIONS[name]
    x = np.ones((2, 3))
    with pytest.raises(ShapeError, match="no axis 2"):
        function(x, axis=2)
    with pytest.raises(ShapeError, match="twice"):
        function(x, axis=(0, -2))
    with pytest.raises(DtypeError, match="axis"):
        function(x, axis=1.5)


def test_a_sum_of_nothing_is_zero():
    assert F.sum(np.zeros((0, 3), "float32")).array == 0
    assert F.sum(np.zeros((0, 3), "float32"), 0).array.tolist() == [0, 0, 0]


@pytest.mark.parametrize("function", [F.max, F.min, F.mean, F.logsumexp, F.argmax, F.argmin])
def test_nothing_has_no_largest_value_and_no_mean(function):
    with pytest.raises(ShapeError, match="nothing"):
        function(np.zeros((0, 3), "float32"))


def test_equal_maxima_share_the_gradient():
    x = Variable(np.array([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]]))
    F.sum(F.max(x, 1)).backward()
    assert x.grad.tolist() == [[0, 0.5, 0.5], [1, 0, 0]]


def test_weights_make_a_weighted_mean():
    random = np.random.default_rng(0)
    x, w = random.normal(size=(2, 3, 4)), random.uniform(0.5, 1, (3, 4))
    assert_allclose(F.average(x, (1, 2), w), np.average(x, axis=(1, 2), weights=w))
    assert_allclose(F.average(x, (2, 1), w), np.average(x, axis=(1, 2), weights=w))
    full = np.broadcast_to(w, x.shape)
    assert_allclose(F.average(x, weights=full), np.average(x, weights=full))
    check_backward(lambda x, w: F.average(x, (1, 2), w, keepdims=True), (x, w))
    check_double_backward(lambda x, w: F.average(x, (1, 2), w), (x, w))
    with pytest.raises(ShapeError, match="weights"):
        F.average(x, 0, w)


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_products_with_zeros_have_exact_gradients(zeros):
    x = np.array([[1.5, 2.0, -1.0], [0.5, 3.0, 2.0]])
    x[0, :zeros] = 0
    check_backward(lambda x: F.prod(x, 1), x)
    check_double_backward(lambda x: F.prod(x, 1), x)


def test_logsumexp_neither_overflows_nor_loses_infinities():
    x = np.array([[1000.0, 1000.0], [-np.inf, 0.0], [-1000.0, -1001.0]])
    with np.errstate(divide="ignore"):
        y = F.logsumexp(x, 1).array
        assert F.logsumexp(np.full((1, 2), -np.inf)).array == -np.inf
    assert_allclose(y, np.array([1000 + np.log(2), 0, -1000 + np.log1p(np.exp(-1))]))


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_argmax_and_argmin_are_numpys(axis):
    x = _distinct((3, 4))
    for function, formula in ((F.argmax, np.argmax), (F.argmin, np.argmin)):
        y = function(Variable(x), axis)
        assert y.dtype == "int32"
        assert np.array_equal(y.array, formula(x, axis))
        assert not y.requires_grad
    with pytest.raises(ShapeError, match="no axis"):
        F.argmax(x, 2)


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_running_sums(axis):
    x = _distinct((2, 3, 2))
    assert_allclose(F.cumsum(x, axis), np.cumsum(x, axis))
    check_backward(lambda x: F.cumsum(x, axis), x)
    check_double_backward(lambda x: F.cumsum(x, axis), x)


def test_normalized_vectors_have_length_one_and_zeros_stay_zeros():
    x = np.random.default_rng(0).normal(size=(2, 5, 3)).astype("float32")
    x[0, :, 1] = 0
    v = Variable(x)
    y = F.normalize(v)
    lengths = np.sqrt((y.array**2).sum(1))
    assert_allclose(lengths[1], np.ones(3, "float32"))
    assert lengths[0, 1] == 0
    F.sum(y).backward()
    assert np.isfinite(v.grad).all()
    x = np.random.default_rng(1).uniform(0.5, 2, (2, 3, 2))  # curvature grows as vectors shrink
    check_backward(F.normalize, x)
    check_double_backward(F.normalize, x)


def test_batch_l2_norm_squared_is_one_number_a_sample():
    x = np.random.default_rng(0).normal(size=(3, 2, 2))
    assert_allclose(F.batch_l2_norm_squared(x), (x**2).sum((1, 2)))
    check_backward(F.batch_l2_norm_squared, x)
    check_double_backward(F.batch_l2_norm_squared, x)


@pytest.mark.parametrize("function", [F.max, F.min])
def test_the_greatest_of_no_rows_is_no_number_but_of_no_columns_there_is_none(function):
    assert function(np.zeros((0, 3), np.float32), axis=1).shape == (0,)
    with pytest.raises(ShapeError, match="nothing to choose"):
        function(np.zeros((0, 3), np.float32), axis=0)
