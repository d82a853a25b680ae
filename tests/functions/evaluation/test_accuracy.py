"""Accuracy, and the coefficient of determination."""

import numpy as np
import pytest

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.evaluation.accuracy import accuracy, r2_score

Y = np.array([[0.1, 0.9], [0.8, 0.2], [0.5, 0.5], [0.0, 1.0]], "f")

CASES = {  # labels, ignored label, share
    "all right": ([1, 0, 0, 1], None, 1.0),  # the first of equal scores wins
    "half right": ([1, 1, 0, 0], None, 0.5),
    "one ignored": ([1, -1, 0, 0], -1, 2 / 3),
    "all ignored": ([-1] * 4, -1, 0.0),
    "unknown label is wrong": ([7, 0, 0, 1], None, 0.75),
}


@pytest.mark.parametrize("case", CASES)
def test_share(case):
    t, ignore_label, share = CASES[case]
    result = accuracy(Variable(Y), np.array(t), ignore_label)
    assert result.dtype == "float32"
    assert result.shape == ()
    assert not result.requires_grad
    np.testing.assert_allclose(result.array, share, rtol=1e-6)


def test_r2_of_equal_target_values_is_zero_though_their_mean_is_rounded():
    true = np.full(3, 0.1)
    assert true.mean() != 0.1
    assert r2_score(np.array([1.0, 2.0, 3.0]), true).array == 0


def test_label_maps_and_no_labels():
    y = np.zeros((1, 3, 2, 2), "f")
    y[0, 2, 0] = 1
    assert accuracy(y, np.array([[[2, 2], [0, 1]]])).array == 0.75
    assert accuracy(np.zeros((0, 3), "f"), np.zeros(0, int)).array == 0


def test_r2_is_one_less_the_unexplained_part_of_the_variance():
    true = np.array([[1.0, 2], [2, 2], [3, 2], [6, 2]])
    pred = np.array([[1.0, 2], [2, 1], [4, 2], [6, 2]])
    np.testing.assert_allclose(r2_score(pred, true, multioutput="raw_values").array, [1 - 1 / 14, 0])
    assert r2_score(pred, true).array == pytest.approx((1 - 1 / 14) / 2)
    assert r2_score(pred[:, 0].astype("f"), true[:, 0].astype("f")).dtype == np.float32
    with pytest.raises(ShapeError, match="r2_score: pred and true must have one shape"):
        r2_score(pred, true[:, 0])
    with pytest.raises(DtypeError, match="must be floating"):
        r2_score(pred, true.astype(int))
    with pytest.raises(ValueRangeError, match="there is no multioutput 'mean'"):
        r2_score(pred, true, multioutput="mean")


def test_bad_calls_teach():
    with pytest.raises(ShapeError, match="one label"):
        accuracy(Y, np.zeros((4, 2), int))
    with pytest.raises(DtypeError, match="integers"):
        accuracy(Y, np.zeros(4))


def test_of_soft_labels_the_largest_counts():
    y = np.float32([[0, 1, 2], [5, 1, 0], [0, 3, 1]])
    t = np.float32([[0.2, 0.3, 0.5], [0.1, 0.9, 0], [0.2, 0.6, 0.2]])
    assert accuracy(y, t).array == pytest.approx(2 / 3)
