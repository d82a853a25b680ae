"""Curves of precision and recall, and thresholds chosen on them."""

import numpy as np
import pytest

from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.evaluations.analysis import calc_pr_curves, calc_score_thresholds


def test_curves_by_hand():
    score = [0.9, 0.7, 0.7, 0.3, 0.8, 0.6]
    label = [0, 0, 0, 0, 1, 0]
    match = [1, 0, 1, 1, 0, -1]  # the last one is not counted
    a, b, c = calc_pr_curves(score, label, match, [4, 2, 0])
    np.testing.assert_array_equal(a.score, [0.9, 0.7, 0.3])  # equal scores are one step
    np.testing.assert_allclose(a.precision, [1, 2 / 3, 3 / 4])
    np.testing.assert_allclose(a.recall, [1 / 4, 2 / 4, 3 / 4])
    np.testing.assert_allclose(a.f1, [2 / 5, 4 / 7, 6 / 8])
    # one after the other they are 1, 1/2, 2/3, 3/4
    assert a.ap == pytest.approx((26 + 50 * 3 / 4) / 101)
    assert (b.precision.tolist(), b.recall.tolist(), b.f1.tolist(), b.ap) == ([0], [0], [0], 0)
    assert len(c.score) == 0
    assert np.isnan(c.ap)


def test_average_precision_keeps_equal_scores_in_their_order():
    for match, ap in (([1, 0], 1), ([0, 1], 0.5)):
        (curve,) = calc_pr_curves([0.5, 0.5], [0, 0], match, [1])
        assert curve.ap == ap
        assert curve.precision.tolist() == [0.5]


def test_thresholds_by_hand():
    score = [0.9, 0.8, 0.7, 0.6, 0.5] + [0.9, 0.8, 0.7]
    label = [0] * 5 + [1] * 3
    match = [1, 0, 1, 0, 0] + [0, 0, 0]
    curves = calc_pr_curves(score, label, match, [2, 3, 0, 4])
    best = calc_score_thresholds(curves)
    np.testing.assert_array_equal(best.threshold, [0.7, np.nan, np.nan, np.nan])
    np.testing.assert_allclose([best.precision[0], best.recall[0], best.f1[0]], [2 / 3, 1, 0.8])
    for precision, threshold in ((0.3, 0.7), (2 / 3, 0.7), (0.7, 0.9), (1, 0.9)):
        found = calc_score_thresholds(curves, precision=precision)
        assert found.threshold[0] == threshold
        assert found.precision[0] >= precision
        assert np.isnan(found.threshold[1:]).all()


def test_a_class_without_objects_has_no_threshold():
    best = calc_score_thresholds(calc_pr_curves([0.9], [0], [0], [0]))
    assert np.isnan([best.threshold, best.precision, best.recall, best.f1]).all()
    assert len(calc_score_thresholds([]).threshold) == 0


@pytest.mark.parametrize(
    ("score", "label", "match", "error", "words"),
    [
        ([0.5, np.nan], [0, 0], [1, 1], ValueRangeError, "score of detection 1"),
        ([0.5, 0.5], [0, 3], [1, 1], ValueRangeError, "label of detection 1"),
        ([0.5, 0.5], [0, -1], [1, 1], ValueRangeError, "label of detection 1"),
        ([0.5, 0.5], [0], [1, 1], ShapeError, "must be"),
    ],
)
def test_what_makes_no_sense_is_named(score, label, match, error, words):
    with pytest.raises(error, match=words):
        calc_pr_curves(score, label, match, [1, 1, 1])


@pytest.mark.parametrize("precision", [0, -1, 1.5, np.nan])
def test_a_precision_out_of_range_is_refused(precision):
    with pytest.raises(ValueRangeError):
        calc_score_thresholds([], precision=precision)
