"""The fully connected layer's function."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError, ValueRangeError
from cvzoo.functions.connection.linear import linear

random = np.random.default_rng(0)
X, W, B = random.normal(size=(5, 4)), random.normal(size=(3, 4)), random.normal(size=3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_linear_is_a_matrix_product(dtype, backend):
    y = linear(X.astype(dtype), W.astype(dtype), B.astype(dtype))
    np.testing.assert_allclose(y.array, X @ W.T + B, rtol=1e-5)
    assert y.dtype == dtype
    np.testing.assert_allclose(linear(X, W).array, X @ W.T, rtol=1e-5)


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_derivatives_of_linear(rows, backend):
    check_backward(linear, (X[:rows], W, B))
    check_double_backward(linear, (X[:rows], W, B))


def test_axes_after_the_batch_are_flattened(backend):
    x = random.normal(size=(2, 3, 2, 2))
    w = random.normal(size=(5, 12))
    np.testing.assert_allclose(linear(x, w).array, x.reshape(2, 12) @ w.T, rtol=1e-6)
    y = linear(x, w[:, :4], n_batch_axes=2)
    assert y.shape == (2, 3, 5)
    np.testing.assert_allclose(y.array, x.reshape(2, 3, 4) @ w[:, :4].T, rtol=1e-6)
    check_backward(lambda x, w: linear(x, w, n_batch_axes=2), (x, w[:, :4]))
    check_backward(linear, (x, w))


def test_transposed_inputs(backend):
    x, w = np.asfortranarray(X.astype("f")), np.asfortranarray(W.astype("f"))
    np.testing.assert_allclose(linear(x, w, B.astype("f")).array, X @ W.T + B, rtol=1e-5, atol=1e-6)


def test_a_parameter_changed_between_two_calls_counts_at_once(backend):
    w = Parameter(W.astype("f"))
    with no_backprop_mode():
        first = linear(X.astype("f"), w).array
        w.array[...] *= 2
        np.testing.assert_allclose(linear(X.astype("f"), w).array, 2 * first, rtol=1e-5)


def test_bad_calls_teach():
    with pytest.raises(ShapeError, match="x has 5 values per row, W takes 4"):
        linear(np.zeros((2, 5)), W)
    with pytest.raises(ShapeError, match=r"W\.T"):
        linear(np.zeros((2, 3)), W)
    with pytest.raises(ShapeError, match="must be"):
        linear(X, W[0])
    with pytest.raises(ShapeError, match="b needs"):
        linear(X, W, np.zeros(4))
    with pytest.raises(DtypeError, match="one dtype"):
        linear(X.astype("f"), W)
    with pytest.raises(ValueRangeError, match="n_batch_axes"):
        linear(X, W, n_batch_axes=2)
    with pytest.raises(GraphError, match="no value"):
        linear(X, Parameter())


def test_gradients_are_not_taken_of_plain_arrays():
    w = Variable(W)
    y = linear(X, w)
    y.grad = np.ones_like(y.array)
    y.backward()
    np.testing.assert_allclose(w.grad, np.broadcast_to(X.sum(0), W.shape))
