"""Softmax and its logarithm."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward, check_double_backward
from cvzoo.errors.exceptions import DtypeError, ShapeError

SHAPES = [((2, 4), 1), ((2, 4), 0), ((2, 3, 2, 2), 1), ((2, 3, 2, 2), -1), ((5,), 0), ((1, 1), 1), ((2, 3, 4), 1)]


def _softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize(("shape", "axis"), SHAPES, ids=str)
def test_values_and_gradients(shape, axis, backend):
    x = np.random.default_rng(0).normal(size=shape)
    for dtype, rtol in (("float32", 1e-5), ("float64", 1e-12)):
        y = F.softmax(x.astype(dtype), axis)
        assert y.dtype == dtype
        assert_allclose(y, _softmax(x, axis), rtol=rtol, atol=1e-6 if dtype == "float32" else 1e-12)
        assert_allclose(F.log_softmax(x.astype(dtype), axis), np.log(_softmax(x, axis)), rtol=rtol, atol=1e-6)
    for function in (F.softmax, F.log_softmax):
        check_backward(lambda x: function(x, axis), x)  # noqa: B023
        check_double_backward(lambda x: function(x, axis), x, rtol=1e-3, atol=1e-4)  # noqa: B023


def test_large_scores_do_not_overflow(backend):
    x = np.array([[1000.0, 0.0], [-1000.0, -1001.0]], "float32")
    assert_allclose(F.softmax(x), np.array([[1, 0], [0.7310586, 0.2689414]], "float32"))
    assert_allclose(F.log_softmax(x), np.array([[0, -1000], [-0.3132617, -1.3132617]], "float32"))


def test_strides_do_not_matter(backend):
    x = np.random.default_rng(0).normal(size=(2, 5, 4, 3)).astype("float32")
    for view in (x.transpose(0, 3, 1, 2), x[:, ::2], x[:, ::-1]):
        for axis in range(4):
            assert_allclose(F.softmax(view, axis), _softmax(view, axis), rtol=1e-5)


def test_an_empty_batch_stays_empty(backend):
    assert F.softmax(np.zeros((0, 3), "float32")).shape == (0, 3)
    assert F.log_softmax(np.zeros((0, 3), "float32")).shape == (0, 3)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ShapeError, match="no axis 1"):
        F.softmax(np.zeros(3))
    with pytest.raises(DtypeError, match="floating"):
        F.log_softmax(np.arange(4).reshape(2, 2))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=8), st.floats(-20, 20, width=32))
def test_probabilities_sum_to_one_and_do_not_see_a_shift(scores, shift):
    x = np.array([scores], "float64")
    p = F.softmax(x).array
    assert abs(p.sum() - 1) < 1e-12
    assert_allclose(F.softmax(x + shift), p, rtol=1e-9, atol=1e-12)
