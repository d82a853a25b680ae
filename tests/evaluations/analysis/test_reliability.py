"""Whether scores are probabilities."""

import numpy as np
import pytest

from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.evaluations.analysis import calc_reliability


def test_numbers_by_hand():
    found = calc_reliability([0.0, 0.5, 0.3, 0.9, 1.0], [False, True, False, True, False], n_bin=2)
    np.testing.assert_allclose(found.edges, [0, 0.5, 1])
    assert found.count.tolist() == [3, 2]  # a bin has its upper border
    np.testing.assert_allclose(found.confidence, [0.8 / 3, 0.95])
    np.testing.assert_allclose(found.accuracy, [1 / 3, 0.5])
    assert found.ece == pytest.approx((0.2 / 3 * 3 + 0.45 * 2) / 5)
    assert found.mce == pytest.approx(0.45)


def test_scores_that_are_probabilities_have_a_small_error():
    rng = np.random.default_rng(0)
    score = rng.random(100_000)
    assert calc_reliability(score, rng.random(100_000) < score).ece < 0.01
    assert calc_reliability(score, rng.random(100_000) < score**2).ece > 0.1


def test_empty_bins_have_no_number():
    found = calc_reliability([0.9], [True], n_bin=3)
    np.testing.assert_array_equal(found.confidence, [np.nan, np.nan, 0.9])
    assert found.ece == found.mce == pytest.approx(0.1)
    empty = calc_reliability([], [])
    assert np.isnan([empty.ece, empty.mce]).all()


@pytest.mark.parametrize(
    ("score", "correct", "n_bin", "error", "words"),
    [
        ([0.5, 1.5], [True, True], 3, ValueRangeError, "score 1 is no"),
        ([0.5, np.nan], [True, True], 3, ValueRangeError, "score 1 is no"),
        ([0.5], [True, True], 3, ShapeError, "must be"),
        ([0.5], [True], 0, ValueRangeError, "n_bin"),
    ],
)
def test_what_makes_no_sense_is_refused(score, correct, n_bin, error, words):
    with pytest.raises(error, match=words):
        calc_reliability(score, correct, n_bin=n_bin)
