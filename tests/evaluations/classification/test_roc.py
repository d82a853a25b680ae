"""ROC curves and the area under them."""

import numpy as np
import pytest

from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.evaluations.classification.result import ClassificationResult
from cvzoo.evaluations.classification.roc import calc_roc


def test_a_curve_computed_by_hand():
    curve = calc_roc([0.9, 0.8, 0.8, 0.3], [True, False, True, False])
    assert curve.threshold.tolist() == [np.inf, 0.9, 0.8, 0.3]
    assert curve.fpr.tolist() == [0, 0, 0.5, 1]
    assert curve.tpr.tolist() == [0, 0.5, 1, 1]
    assert curve.auc == 0.875


@pytest.mark.parametrize("seed", range(3))
def test_the_area_is_the_probability_that_a_positive_scores_higher(seed):
    rng = np.random.default_rng(seed)
    score, positive = rng.integers(0, 8, 50) / 8, rng.random(50) < 0.4
    pairs = score[positive][:, None] - score[~positive]
    assert calc_roc(score, positive).auc == pytest.approx(((pairs > 0) + 0.5 * (pairs == 0)).mean())


@pytest.mark.parametrize("positive", [[], [True, True], [False]])
def test_without_positives_or_negatives_there_is_no_area(positive):
    assert np.isnan(calc_roc(np.linspace(0, 1, len(positive)), positive).auc)


def test_malformed_scores_are_refused():
    with pytest.raises(ShapeError):
        calc_roc([0.1], [True, False])
    with pytest.raises(ValueRangeError, match="score 1 is NaN"):
        calc_roc([0.1, np.nan], [True, False])


def test_precision_and_f1_of_a_confusion_matrix():
    result = ClassificationResult((1,), np.array([5]), np.array([[3, 1, 0], [1, 2, 0], [0, 0, 0]]))
    assert result.class_precision[:2].tolist() == [3 / 4, 2 / 3]
    assert result.class_f1[:2].tolist() == [3 / 4, 2 / 3]
    assert np.isnan([result.class_precision[2], result.class_f1[2]]).all()
    assert result.macro_f1 == pytest.approx((3 / 4 + 2 / 3) / 2)


def test_a_class_that_is_never_predicted_has_an_f1_of_0_and_no_precision():
    result = ClassificationResult((1,), np.array([2]), np.array([[2, 0], [1, 0]]))
    assert np.isnan(result.class_precision[1])
    assert result.class_f1[1] == 0
    assert (result.macro_precision, result.macro_f1) == pytest.approx((1 / 3, 0.4))
