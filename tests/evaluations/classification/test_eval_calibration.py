"""Calibration of class probabilities, by hand and against definitions written out."""

import math

import numpy as np
import pytest

from cvzoo.errors import DtypeError, ValueRangeError
from cvzoo.evaluations import eval_calibration


def test_four_images_by_hand():
    probs = [[0.9, 0.1], [0.9, 0.1], [0.3, 0.7], [0.4, 0.6]]
    found = eval_calibration(probs, [0, 1, 1, 0], n_bin=10)
    # bins: 0.6 (wrong), 0.7 (right), 0.9 twice (one right)
    assert found["expected_calibration_error"] == pytest.approx((0.6 + 0.3 + 2 * 0.4) / 4)
    assert found["maximum_calibration_error"] == pytest.approx(0.6)
    assert found["brier_score"] == pytest.approx((0.02 + 1.62 + 0.18 + 0.72) / 4)
    assert found["negative_log_likelihood"] == pytest.approx(-np.log([0.9, 0.1, 0.7, 0.4]).mean())
    assert found["reliability"].count.sum() == 4


def test_probabilities_that_keep_their_word_have_a_small_error():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet([1, 1, 1], 20000)
    labels = np.array([rng.choice(3, p=p) for p in probs])
    found = eval_calibration(probs, labels)
    assert found["expected_calibration_error"] < 0.02
    sharper = probs**3 / (probs**3).sum(axis=1, keepdims=True)
    worse = eval_calibration(sharper, labels)
    for name in ("expected_calibration_error", "brier_score", "negative_log_likelihood"):
        assert worse[name] > found[name] + 0.02


def test_a_true_class_of_probability_0_costs_infinitely_much():
    found = eval_calibration(np.float32([[1, 0]]), [1])
    assert found["negative_log_likelihood"] == math.inf
    assert found["brier_score"] == 2


def test_without_images_there_is_no_number():
    found = eval_calibration(np.zeros((0, 3)), np.zeros(0, int))
    assert all(math.isnan(value) for name, value in found.items() if name != "reliability")


@pytest.mark.parametrize(
    ("probs", "words"),
    [([[2.0, -1.0]], "image 0 are no probabilities"), ([[1, 0], [3, 4]], "image 1"), ([[0.5, 0.4]], "sum 0.9")],
)
def test_logits_are_refused(probs, words):
    with pytest.raises(ValueRangeError, match=words):
        eval_calibration(probs, np.zeros(len(probs), int))


@pytest.mark.parametrize("probs", [[["a", "b"]], [[None, 1.0]], [[1j, 0]]])
def test_probabilities_that_are_no_real_numbers_are_refused(probs):
    with pytest.raises(DtypeError, match="real numbers"):
        eval_calibration(probs, [0])


@pytest.mark.parametrize("n_bin", [0, 2.5, "3", None, 10**12])
def test_a_number_of_bins_that_is_none_is_refused(n_bin):
    with pytest.raises(ValueRangeError, match="n_bin"):
        eval_calibration([[1.0, 0.0]], [0], n_bin=n_bin)
