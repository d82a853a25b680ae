"""Precision, recall and F-scores of classes, and the share of right answers of yes or no."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError

# predicted 0 0 1 1 3, true 0 1 1 1 0; of the last example the label is ignored
Y = np.eye(4, dtype="f")[[0, 0, 1, 1, 3, 2]]
T = np.array([0, 1, 1, 1, 0, -1])


def test_each_class_has_its_scores_and_what_never_comes_has_zero():
    precision, recall, f1, support = F.classification_summary(Y, T)
    np.testing.assert_allclose(precision.array, [1 / 2, 1, 0, 0])
    np.testing.assert_allclose(recall.array, [1 / 2, 2 / 3, 0, 0])
    np.testing.assert_allclose(f1.array, [1 / 2, 4 / 5, 0, 0])
    assert support.array.tolist() == [2, 3, 0, 0]
    assert (precision.dtype, support.dtype) == ("float32", "int64")


@pytest.mark.parametrize(("function", "place"), [(F.precision, 0), (F.recall, 1), (F.f1_score, 2), (F.fbeta_score, 2)])
def test_each_score_comes_alone_with_the_support(function, place):
    score, support = function(Y, T, label_num=2)
    summary = F.classification_summary(Y, T, label_num=2)
    np.testing.assert_array_equal(score.array, summary[place].array)
    assert support.array.tolist() == [2, 3]


def test_beta_weighs_recall():
    (score, _), p, r = F.fbeta_score(Y, T, beta=2.0), 1, 2 / 3
    np.testing.assert_allclose(score.array[1], 5 * p * r / (4 * p + r), rtol=1e-6)


def test_label_maps_and_another_ignored_label():
    y = np.zeros((1, 2, 2, 2), "f")
    y[0, 1, 0] = 1
    precision, support = F.precision(y, np.array([[[1, 0], [0, 0]]]), ignore_label=0)
    assert precision.array.tolist() == [0, 1]
    assert support.array.tolist() == [0, 1]


def test_answers_of_yes_or_no():
    y = np.array([[-2.0, 0.0], [3.0, -5.0]], "f")
    assert F.binary_accuracy(y, np.array([[0, 1], [1, 0]])).array == 1
    assert F.binary_accuracy(y, np.array([[0, 0], [1, 1]])).array == 0.5
    assert F.binary_accuracy(y, np.array([[0, -1], [0, -1]])).array == 0.5
    assert F.binary_accuracy(y, np.full((2, 2), -1)).array == 0


def test_bad_calls_teach():
    with pytest.raises(ShapeError, match="one label"):
        F.classification_summary(Y, T[:3])
    with pytest.raises(DtypeError, match="t of integers"):
        F.recall(Y, T.astype("f"))
    with pytest.raises(ValueRangeError, match="beta must be positive"):
        F.fbeta_score(Y, T, beta=0)
    with pytest.raises(ShapeError, match="one shape"):
        F.binary_accuracy(Y, T)
    with pytest.raises(DtypeError, match="t of integers"):
        F.binary_accuracy(Y, Y)
