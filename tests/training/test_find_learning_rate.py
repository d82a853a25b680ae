"""The learning rate range test: a curve, a suggestion, and a training as if it had not been."""

import numpy as np
import pytest

from cvzoo.errors import ValueRangeError
from cvzoo.training import find_learning_rate
from cvzoo.training.find_learning_rate import _curve


def test_the_loss_falls_and_then_diverges_and_the_suggestion_is_between(small):
    curve = find_learning_rate(small().trainer, low=1e-4, high=1e4, n_iteration=60)
    assert len(curve.lrs) == len(curve.losses) == len(curve.smoothed)
    np.testing.assert_allclose(np.diff(np.log(curve.lrs)), np.log(1e8) / 59)
    assert 1e-4 < curve.suggestion < curve.limit < curve.lrs[-1]


def test_a_training_after_the_test_has_the_same_bits(small):
    plain, tested = small(out="plain"), None
    plain.trainer.run()
    tested = small(out="tested")
    find_learning_rate(tested.trainer, high=100.0, n_iteration=30)
    assert tested.updater.iteration == 0
    assert tested.optimizer.lr == 0.1
    tested.trainer.run()
    for name, array in plain.weights().items():
        np.testing.assert_array_equal(array, tested.weights()[name], err_msg=name)


def test_an_error_leaves_the_training_as_it_was(small):
    it = small()
    before = it.weights()
    with pytest.raises(ValueRangeError, match=r"'main/los' was not reported"):
        find_learning_rate(it.trainer, key="main/los")
    for name, array in it.weights().items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize(
    ("smoothed", "suggestion", "limit"),
    [
        ([5, 5, 4.9, 3, 2.5, 2.4, 9], 2, 5),  # steepest from 2 to 3
        ([1, 2, 3], None, 0),  # never falls
        ([3, 2, 1, float("nan")], 0, 2),
        ([float("nan")], None, 0),
    ],
)
def test_the_suggestion_is_the_steepest_descent_before_the_minimum(smoothed, suggestion, limit):
    lrs = np.geomspace(1, 2 ** (len(smoothed) - 1), len(smoothed))
    curve = _curve(lrs, np.array(smoothed), np.array(smoothed))
    assert curve.suggestion == (None if suggestion is None else pytest.approx(2**suggestion))
    assert curve.limit == pytest.approx(2**limit)


def test_the_plot_is_a_picture(small, tmp_path):
    curve = find_learning_rate(small().trainer, n_iteration=20)
    curve.write_plot(tmp_path / "lr.svg")
    assert "learning rate, log10" in (tmp_path / "lr.svg").read_text()


@pytest.mark.parametrize("wrong", [{"low": 0}, {"low": 2.0}, {"n_iteration": 3}, {"smoothing": 1.0}])
def test_settings_out_of_range_are_refused(small, wrong):
    with pytest.raises(ValueRangeError, match="out of range"):
        find_learning_rate(small().trainer, **wrong)
