"""Losses of differences: squared, absolute, and between the two."""

import numpy as np
import pytest

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.loss.differences import huber_loss, mean_absolute_error, mean_squared_error, smooth_l1

# differences on both sides of every corner (0, 0.5, 1), none nearer than 0.1
D = np.array([[-3.0, -1.2, -0.8], [-0.3, 0.2, 0.35], [0.7, 0.85, 2.5], [0.65, -0.15, 1.4]])
T = np.random.default_rng(0).normal(size=D.shape)
X = T + D


def _huber(d, delta):
    return np.where(np.abs(d) < delta, d**2 / 2, delta * (np.abs(d) - delta / 2))


CASES = {
    "squared": (mean_squared_error, (D**2).mean()),
    "absolute": (mean_absolute_error, np.abs(D).mean()),
    "huber": (lambda x, t: huber_loss(x, t, 0.5), _huber(D, 0.5).sum(1)),
    "huber, each": (lambda x, t: huber_loss(x, t, 1, "no"), _huber(D, 1)),
    "smooth l1": (smooth_l1, _huber(D, 1).mean()),
    "smooth l1, beta": (lambda x, t: smooth_l1(x, t, beta=0.5, reduce="sum"), _huber(D, 0.5).sum() * 2),
}


@pytest.mark.parametrize("case", CASES)
def test_loss_and_derivatives(case, backend):
    loss, wanted = CASES[case]
    for dtype, tolerance in (("float64", 1e-9), ("float32", 1e-5)):
        y = loss(X.astype(dtype), T.astype(dtype))
        np.testing.assert_allclose(y.array, wanted, rtol=tolerance)
        assert y.dtype == dtype
    check_backward(loss, (X, T))
    check_double_backward(loss, (X, T))


@pytest.mark.parametrize("loss", [mean_squared_error, mean_absolute_error, smooth_l1])
def test_no_elements_give_zero_and_one_dtype_is_asked_for(loss):
    assert loss(X[:0], T[:0]).array == 0
    with pytest.raises(ShapeError, match="one shape"):
        loss(X, T[:1])
    with pytest.raises(DtypeError):
        loss(X, T.astype("f"))
    with pytest.raises(DtypeError, match="floating"):
        loss(X.astype(int), T.astype(int))


def test_bad_settings_teach():
    with pytest.raises(ValueRangeError, match="delta"):
        huber_loss(X, T, 0)
    with pytest.raises(ShapeError, match="second axis"):
        huber_loss(X[0], T[0], 1)
    with pytest.raises(ValueRangeError, match="reduce"):
        smooth_l1(X, T, reduce="none")
