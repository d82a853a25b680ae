"""Losses of yes-or-no answers: sigmoid and binary cross entropy, focal loss."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.loss.binary_cross_entropy import binary_cross_entropy, sigmoid_cross_entropy
from cvzoo.functions.loss.focal_loss import sigmoid_focal_loss

random = np.random.default_rng(0)
X = random.normal(0, 2, size=(3, 2, 2))
T = np.array([[[1, 0], [0, 1]], [[-1, 1], [0, -1]], [[0, 0], [1, 1]]], "int32")


def _entropy(x, t):
    p = 1 / (1 + np.exp(-x))
    return -(t * np.log(p) + (1 - t) * np.log(1 - p))


def _reduced(loss, t, reduce, normalize=True):
    loss = np.where(t == -1, 0, loss)
    return {"no": loss, "sum": loss.sum(), "mean": loss.sum() / ((t != -1).sum() if normalize else len(t))}[reduce]


@pytest.mark.parametrize("reduce", ["mean", "sum", "no"])
@pytest.mark.parametrize("normalize", [True, False])
def test_sigmoid_cross_entropy(reduce, normalize, backend):
    wanted = _reduced(_entropy(X, T), T, reduce, normalize)
    for dtype, tolerance in (("float64", 1e-9), ("float32", 1e-5)):
        y = sigmoid_cross_entropy(X.astype(dtype), T, reduce=reduce, normalize=normalize)
        np.testing.assert_allclose(y.array, wanted, rtol=tolerance)
        assert y.dtype == dtype

    def run(x):
        return sigmoid_cross_entropy(x, T, reduce=reduce, normalize=normalize)

    check_backward(run, X)
    check_double_backward(run, X)


def test_targets_may_be_probabilities(backend):
    t = random.uniform(size=X.shape)
    np.testing.assert_allclose(sigmoid_cross_entropy(X, t).array, _entropy(X, t).mean(), rtol=1e-9)
    check_backward(lambda x: sigmoid_cross_entropy(x, t), X)


@pytest.mark.parametrize("settings", [{}, {"alpha": None}, {"gamma": 0.0}, {"gamma": 1.5, "alpha": 0.6}], ids=str)
@pytest.mark.parametrize("reduce", ["mean", "no"])
def test_sigmoid_focal_loss(settings, reduce, backend):
    alpha, gamma = settings.get("alpha", 0.25), settings.get("gamma", 2.0)
    p = 1 / (1 + np.exp(-X))
    right = np.where(T == 1, p, 1 - p)
    weight = 1 if alpha is None else np.where(T == 1, alpha, 1 - alpha)
    wanted = _reduced(-weight * (1 - right) ** gamma * np.log(right), T, reduce)
    for dtype, tolerance in (("float64", 1e-9), ("float32", 1e-5)):
        y = sigmoid_focal_loss(X.astype(dtype), T, reduce=reduce, **settings)
        np.testing.assert_allclose(y.array, wanted, rtol=tolerance)
        assert y.dtype == dtype
    check_backward(lambda x: sigmoid_focal_loss(x, T, reduce=reduce, **settings), X)
    check_double_backward(lambda x: sigmoid_focal_loss(x, T, reduce=reduce, **settings), X)


@pytest.mark.parametrize("loss", [sigmoid_cross_entropy, sigmoid_focal_loss])
def test_large_scores_have_finite_losses_and_gradients(loss, backend):
    x = Variable(np.array([200.0, -200.0, 200.0, -200.0], "f"))
    y = loss(x, np.array([1, 1, 0, 0]), reduce="no")
    assert np.isfinite(y.array).all()
    np.testing.assert_allclose(y.array[[0, 3]], 0, atol=1e-6)
    assert (y.array[1:3] > 40).all()
    y.grad = np.ones(4, "f")
    y.backward()
    assert np.isfinite(x.grad).all()
    assert x.grad[1] < 0 < x.grad[2]


@pytest.mark.parametrize("loss", [sigmoid_cross_entropy, sigmoid_focal_loss])
def test_nothing_to_learn_from_gives_zero(loss):
    x = Variable(np.ones((2, 2), "f"))
    y = loss(x, np.full((2, 2), -1))
    assert y.array == 0
    y.backward()
    np.testing.assert_array_equal(x.grad, 0)
    assert loss(np.ones((0, 2), "f"), np.ones((0, 2), int)).array == 0


@pytest.mark.parametrize("reduce", ["mean", "sum", "no"])
def test_binary_cross_entropy(reduce, backend):
    p = random.uniform(0.1, 0.9, size=(3, 4))
    t = random.uniform(size=(3, 4))
    loss = -(t * np.log(p) + (1 - t) * np.log(1 - p))
    wanted = {"mean": loss.mean(), "sum": loss.sum(), "no": loss}[reduce]
    np.testing.assert_allclose(binary_cross_entropy(p, t, reduce=reduce).array, wanted, rtol=1e-9)
    check_backward(lambda p: binary_cross_entropy(p, t, reduce=reduce), p)
    check_double_backward(lambda p: binary_cross_entropy(p, t, reduce=reduce), p)


def test_sure_answers_have_finite_losses():
    y = binary_cross_entropy(np.array([0, 1, 0, 1], "f"), np.array([0, 1, 1, 0]), reduce="no").array
    np.testing.assert_allclose(y[:2], 0, atol=1e-6)
    assert (y[2:] > 10).all()
    assert np.isfinite(y).all()


def test_bad_calls_teach():
    for loss in (sigmoid_cross_entropy, sigmoid_focal_loss):
        with pytest.raises(ValueRangeError, match=r"2 at index \(0, 1, 0\)"):
            loss(X, np.where(np.arange(12).reshape(3, 2, 2) == 2, 2, T))
        with pytest.raises(ShapeError, match="one shape"):
            loss(X, T[0])
        with pytest.raises(DtypeError, match="floating"):
            loss(T, T)
        with pytest.raises(ValueRangeError, match="reduce"):
            loss(X, T, reduce="max")
    with pytest.raises(ValueRangeError, match="probability"):
        sigmoid_cross_entropy(X, T.astype("f"))
    with pytest.raises(ValueRangeError, match="p must be within"):
        binary_cross_entropy(X, np.abs(T))
    with pytest.raises(ValueRangeError, match="t must be within"):
        binary_cross_entropy(np.full(X.shape, 0.5), T)
