"""The focal loss of anchors, against the one that takes a yes or no for each score."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.numpy import focal_loss as module
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.loss.focal_loss import focal_loss, sigmoid_focal_loss

random = np.random.default_rng(0)
X = random.normal(0, 3, size=(2, 9, 3))
T = random.integers(-2, 3, size=(2, 9)).astype("int32")
SETTINGS = [{}, {"alpha": None}, {"gamma": 0.0}, {"gamma": 1.0}, {"gamma": 1.5, "alpha": 0.6}]


def _dense(x, t, **settings):
    """The sum over all scores, by the function whose targets have the shape of the scores."""
    yes = np.where(t[..., None] == -2, -1, t[..., None] == np.arange(x.shape[-1]))
    return sigmoid_focal_loss(x, yes, reduce="sum", **settings)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("block", [1, 8, 1 << 15])  # one row a block, blocks with a rest, all in one
def test_it_is_the_sum_over_yes_and_no(settings, block, backend, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", block)
    for dtype, tolerance in (("float64", 1e-12), ("float32", 1e-6)):
        x = Variable(X.astype(dtype))
        wanted = _dense(x, T, **settings)
        wanted.backward()
        gx, x = x.grad, Variable(X.astype(dtype))
        y = focal_loss(x, T, normalizer=1, **settings)
        y.backward()
        np.testing.assert_allclose(y.array, wanted.array, rtol=tolerance)
        np.testing.assert_allclose(x.grad, gx, rtol=tolerance, atol=tolerance)
        assert y.dtype == x.grad.dtype == dtype


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_its_gradients_are_right_twice(settings):
    check_backward(lambda x: focal_loss(x, T, **settings), X)
    check_double_backward(lambda x: focal_loss(x, T, **settings), X)


def test_it_is_divided_by_the_anchors_with_an_object():
    whole = focal_loss(X, T, normalizer=1).array
    np.testing.assert_allclose(focal_loss(X, T).array, whole / (T >= 0).sum())
    np.testing.assert_allclose(focal_loss(X, T, normalizer=8).array, whole / 8)
    none = np.full(T.shape, -1)
    np.testing.assert_allclose(focal_loss(X, none).array, _dense(X, none).array)


def test_one_anchor_by_hand():
    x = np.array([[0.0, np.log(3)]])  # probabilities 1/2 and 3/4
    wanted = -0.25 * 0.5**2 * np.log(0.5) - 0.75 * 0.75**2 * np.log(0.25)
    np.testing.assert_allclose(focal_loss(x, np.array([0])).array, wanted, rtol=1e-12)


def test_sure_answers_are_finite_and_ignored_ones_may_be_anything(backend):
    x = Variable(np.array([[200, -200], [-200, 200], [np.nan, 3]], "f"))
    y = focal_loss(x, np.array([0, 0, -2]), normalizer=1)
    np.testing.assert_allclose(y.array, 0.25 * 200 + 0.75 * 200, rtol=1e-6)
    y.backward()
    np.testing.assert_allclose(x.grad, [[0, 0], [-0.25, 0.75], [0, 0]], atol=1e-6)


@pytest.mark.parametrize("shape", [(0, 4), (2, 0, 4), (3, 1)])
def test_nothing_to_learn_from_gives_zero(shape):
    x = Variable(np.ones(shape, "f"))
    y = focal_loss(x, np.full(shape[:-1], -2))
    assert y.array == 0
    y.backward()
    np.testing.assert_array_equal(x.grad, np.zeros(shape))


def test_bad_calls_teach():
    with pytest.raises(ValueRangeError, match="3 at flat index 4"):
        focal_loss(X, np.where(np.arange(18).reshape(2, 9) == 4, 3, T))
    with pytest.raises(ValueRangeError, match="out of range"):
        focal_loss(X, np.full((2, 9), -3))
    with pytest.raises(ShapeError, match="sigmoid_focal_loss"):
        focal_loss(X, np.zeros(X.shape, int))
    with pytest.raises(ShapeError):
        focal_loss(X, T[0])
    with pytest.raises(DtypeError, match="integers"):
        focal_loss(X, T.astype("f"))
    with pytest.raises(DtypeError, match="floating"):
        focal_loss(T[..., None], T)
    for bad in ({"alpha": 1.1}, {"gamma": -1}, {"gamma": np.nan}, {"normalizer": 0}):
        with pytest.raises(ValueRangeError):
            focal_loss(X, T, **bad)


# the loss, the sum of the gradient's sizes and its second row, as torchvision 0.29.2's sigmoid_focal_loss gives them
SCORES = [
    [-0.623, -1.396, 0.921],
    [-0.685, -2.607, 0.085],
    [2.912, 1.841, -3.111],
    [-4.796, -2.87, -0.876],
    [-7.975, -1.656, -4.738],
    [-3.197, -2.633, -1.949],
]
TORCHVISION = [
    (
        0.25,
        2.0,
        4.979972839355469,
        3.274568113151342,
        [-0.15444649755954742, 0.0007121118251234293, 0.24991974234580994],
    ),
    (None, 2.0, 9.750137329101562, 6.197931983501399, [-0.6177859902381897, 0.0009494824334979057, 0.3332263231277466]),
    (
        0.25,
        0.5,
        6.6456193923950195,
        3.6332449293295213,
        [-0.1728704422712326, 0.020015472546219826, 0.3777082860469818],
    ),
]


@pytest.mark.parametrize(("alpha", "gamma", "loss", "size", "row"), TORCHVISION)
def test_it_is_torchvisions(alpha, gamma, loss, size, row):
    x = Variable(np.array(SCORES, "f"))
    y = focal_loss(x, np.array([-1, 0, 2, -1, 1, -1]), alpha=alpha, gamma=gamma, normalizer=1)
    y.backward()
    np.testing.assert_allclose(float(y.array), loss, rtol=1e-6)
    np.testing.assert_allclose(np.abs(x.grad, dtype="d").sum(), size, rtol=1e-6)
    np.testing.assert_allclose(x.grad[1], row, rtol=1e-6, atol=1e-8)
