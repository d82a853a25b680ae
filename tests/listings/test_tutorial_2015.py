"""The arithmetic and the user-defined function of the tutorial of 2015."""

import numpy as np
import pytest

import cvzoo
from cvzoo.errors import GraphError


class MulAdd(cvzoo.Function):
    def forward_cpu(self, inputs):
        x, y, z = inputs
        w = x * y + z
        return (w,)

    def backward_cpu(self, inputs, grad_outputs):
        x, y, _ = inputs
        (gw,) = grad_outputs
        return y * gw, x * gw, gw


def test_arithmetic_remembers_how_it_was_done():
    x = cvzoo.Variable(np.array([5], dtype=np.float32))
    y = x**2 - 2 * x + 1
    assert y.data.tolist() == [16]
    y.backward()
    assert x.grad == 8


def test_gradients_of_arrays_start_from_a_given_one():
    x = cvzoo.Variable(np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32))
    y = x**2 - 2 * x + 1
    y.grad = np.ones((2, 3), dtype=np.float32)
    y.backward()
    assert x.grad.tolist() == [[0, 2, 4], [6, 8, 10]]


def test_values_on_the_way_keep_their_gradient_on_request():
    x = cvzoo.Variable(np.array([5], dtype=np.float32))
    z = 2 * x
    y = x**2 - z + 1
    y.backward(retain_grad=True)
    assert z.grad == -1
    assert x.grad == 8


def test_a_function_of_ones_own_is_differentiable():
    x, y, z = (cvzoo.Variable(np.random.default_rng(i).normal(size=(3, 2)).astype("float32")) for i in range(3))
    w = MulAdd()(x, y, z)
    np.testing.assert_allclose(w.array, x.array * y.array + z.array)
    w.grad = np.ones((3, 2), dtype=np.float32)
    w.backward()
    np.testing.assert_array_equal(x.grad, y.array)
    np.testing.assert_array_equal(y.grad, x.array)
    np.testing.assert_array_equal(z.grad, np.ones((3, 2)))
    cvzoo.gradient_check.check_backward(MulAdd(), (x.array, y.array, z.array))


def test_it_can_be_differentiated_once_only_and_says_so():
    x = cvzoo.Variable(np.array([5], dtype=np.float32))
    w = MulAdd()(x, x, x)
    with pytest.raises(GraphError, match="MulAdd is written with arrays and cannot be differentiated twice"):
        w.backward(enable_double_backprop=True)
