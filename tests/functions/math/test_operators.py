"""What can be written with Variables as with numbers."""

import operator

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.pow, operator.matmul]


@pytest.mark.parametrize("apply", BINARY)
def test_operators_take_arrays_on_both_sides(apply, backend):
    random = np.random.default_rng(0)
    a, b = (random.uniform(0.5, 2, (3, 3)).astype("float32") for _ in range(2))
    for y in (apply(Variable(a), Variable(b)), apply(a, Variable(b)), apply(Variable(a), b)):
        assert isinstance(y, Variable)
        assert y.dtype == "float32"
        assert_allclose(y, apply(a, b), rtol=1e-5)


@pytest.mark.parametrize("apply", BINARY[:-1])
def test_operators_take_numbers_on_both_sides(apply):
    a = np.random.default_rng(0).uniform(0.5, 2, (2, 3)).astype("float32")
    for value in (2, 1.5, np.float64(3)):
        assert_allclose(apply(Variable(a), value), apply(a, np.float32(value)), rtol=1e-5)
        assert_allclose(apply(value, Variable(a)), apply(np.float32(value), a), rtol=1e-5)


def test_unary_operators():
    x = Variable(np.array([-1.5, 2.0]))
    assert (-x).array.tolist() == [1.5, -2]
    assert (+x) is x
    assert abs(x).array.tolist() == [1.5, 2]


def test_methods_are_the_functions():
    a = np.random.default_rng(0).normal(size=(2, 3, 4))
    x = Variable(a)
    assert x.reshape(6, 4).shape == x.reshape((6, 4)).shape == x.reshape(-1, 4).shape == (6, 4)
    assert x.reshape(-1).shape == x.flatten().shape == (24,)
    assert_allclose(x.T, a.T)
    for y in (x.transpose(2, 0, 1), x.transpose((2, 0, 1)), x.transpose([-1, 0, 1])):
        assert_allclose(y, a.transpose(2, 0, 1))
    assert_allclose(x.transpose(), a.T)
    assert_allclose(x.transpose(None), a.T)
    assert_allclose(x.sum(), a.sum())
    assert_allclose(x.sum(1, keepdims=True), a.sum(1, keepdims=True))
    assert_allclose(x.mean((0, 2)), a.mean((0, 2)))
    assert_allclose(x.max(axis=1), a.max(1))
    assert_allclose(x.min(axis=(0, 1)), a.min((0, 1)))


def test_a_variable_of_axes_is_iterated_over_by_rows():
    rows = list(Variable(np.arange(6.0).reshape(2, 3)))
    assert [row.array.tolist() for row in rows] == [[0, 1, 2], [3, 4, 5]]
    first, second = Variable(np.array([1.0, 2.0]))
    (first * second).backward()
    with pytest.raises(DtypeError, match="item"):
        iter(Variable(np.array(1.0)))


def test_the_tutorial_of_2015_runs_as_it_stands():
    x = Variable(np.array([5], dtype="float32"))
    y = x**2 - 2 * x + 1
    y.backward()
    assert y.array.tolist() == [16]
    assert x.grad.tolist() == [8]
    z = 2 * x
    y = x**2 - z + 1
    y.backward(retain_grad=True)
    assert z.grad.tolist() == [-1]
    y.backward()  # the graph stayed; without retain_grad nothing in between keeps its gradient
    assert z.grad is None


def test_a_matrix_of_variables_learns_as_in_the_tutorial():
    x = Variable(np.array([[1, 2, 3], [4, 5, 6]], "float32"))
    y = x**2 - 2 * x + 1
    y.grad = np.ones((2, 3), "float32")
    y.backward()
    assert x.grad.tolist() == [[0, 2, 4], [6, 8, 10]]


def test_a_whole_expression_has_the_right_gradient():
    random = np.random.default_rng(0)
    x, W, b = random.uniform(0.5, 1, (3, 4)), random.uniform(0.5, 1, (2, 4)), random.uniform(0.5, 1, 2)

    def expression(x, W, b):
        return ((x @ W.T + b) ** 2 / (1 + abs(x[:, :2])) - 3 * x[::-1, 1:3] ** 0.5).mean()

    check_backward(expression, (x, W, b))


def test_mistakes_are_named():
    x = Variable(np.zeros((2, 3), "float32"))
    with pytest.raises(DtypeError, match="compare"):
        x > 0  # noqa: B015
    with pytest.raises(DtypeError):
        x + [1, 2, 3]
    with pytest.raises(ShapeError, match="3 columns"):
        x @ x
    with pytest.raises(ShapeError, match="6 values"):
        x.reshape(4, 2)
    with pytest.raises(DtypeError):
        F.add(1, 2)
