"""Bootstrap intervals of two sets of scores."""

import numpy as np
import pytest

from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.evaluations.comparison.bootstrap import compare_scores


def mean_of(values):
    return lambda weights: np.array([(weights * values).sum() / weights.sum()])


def test_the_interval_of_a_mean_is_that_of_the_central_limit_theorem():
    values = np.random.default_rng(0).normal(3, 2, 400)
    (found,) = compare_scores(mean_of(values), mean_of(values + 1), ["mean"], 400, n_resample=4000)
    assert found.a.value == pytest.approx(values.mean())
    error = 1.96 * values.std() / 20
    assert found.a.low == pytest.approx(values.mean() - error, abs=0.02)
    assert found.a.high == pytest.approx(values.mean() + error, abs=0.02)
    # the images are the same for both: a constant difference has no spread
    assert (found.difference.low, found.difference.high) == pytest.approx((1, 1))
    assert found.differs
    assert found.p_value < 0.001


def test_an_interval_excludes_zero_where_the_p_value_is_below_the_rest_of_the_confidence():
    seen = set()
    for seed in range(60):
        values = np.random.default_rng(seed).normal(0.33, 1, 40)  # about two standard errors from zero
        (found,) = compare_scores(mean_of(0 * values), mean_of(values), ["mean"], 40, n_resample=199, seed=seed)
        assert found.differs == (found.p_value <= 0.05), found
        seen.add(found.differs)
    assert seen == {False, True}


def test_equal_predictions_do_not_differ():
    values = np.random.default_rng(0).normal(size=30)
    (found,) = compare_scores(mean_of(values), mean_of(values), ["mean"], 30, n_resample=50)
    assert (found.difference.value, found.difference.low, found.difference.high) == (0, 0, 0)
    assert not found.differs
    assert found.p_value == 1


def test_a_seed_gives_the_same_intervals_again():
    values = np.random.default_rng(0).normal(size=(2, 30))
    once, again, other = (
        compare_scores(*map(mean_of, values), ["mean"], 30, n_resample=50, seed=seed) for seed in (1, 1, 2)
    )
    assert once == again != other


def in_the_first(n):
    """A score that needs one of the first n images."""

    def score(weights):
        return np.array([weights[:n].mean() if weights[:n].any() else np.nan])

    return score


@pytest.mark.parametrize(("n", "is_known"), [(6, True), (2, False)])
def test_a_score_that_many_resamples_lack_has_no_interval(n, is_known):
    (found,) = compare_scores(in_the_first(n), in_the_first(n), ["few"], 50, n_resample=500)
    assert found.a.value == 1
    assert np.isnan([found.a.low, found.a.high, found.difference.low, found.p_value]).tolist() == [not is_known] * 4
    assert not found.differs


def test_settings_are_checked():
    score = mean_of(np.ones(3))
    for n_image, options in ((0, {}), (3, {"n_resample": 1}), (3, {"confidence": 1.0})):
        with pytest.raises(ValueRangeError):
            compare_scores(score, score, ["mean"], n_image, **options)
    with pytest.raises(ShapeError):
        compare_scores(score, score, ["mean", "more"], 3)
