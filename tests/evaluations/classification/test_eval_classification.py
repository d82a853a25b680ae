"""Scoring of class labels."""

import numpy as np
import pytest

from cvzoo.errors import ConfigError, DtypeError, ShapeError, ValueRangeError
from cvzoo.evaluations.classification import ClassificationAccumulator, eval_classification, rank_of_label


def test_numbers_by_hand():
    probs = np.array([[0.7, 0.2, 0.1, 0.0], [0.7, 0.2, 0.1, 0.0], [0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]])
    labels = np.array([0, 1, 2, 3])
    assert rank_of_label(probs, labels).tolist() == [0, 1, 1, 3]
    result = eval_classification(probs, labels, top=(2, 1, 5))
    assert result["accuracy"] == result["top1_accuracy"] == 0.25
    assert result["top2_accuracy"] == 0.75
    assert result["top5_accuracy"] == 1
    assert result["class_accuracy"].tolist() == [1, 0, 0, 0]
    assert result["mean_class_accuracy"] == 0.25


def test_of_equal_guesses_the_lower_class_leads():
    probs = np.full((3, 3), 1 / 3)
    assert rank_of_label(probs, np.arange(3)).tolist() == [0, 1, 2]
    assert eval_classification(probs, np.arange(3), top=(1, 2))["top2_accuracy"] == pytest.approx(2 / 3)


def test_ranks_are_those_of_a_stable_sort():
    rng = np.random.default_rng(0)
    probs, labels = rng.integers(0, 4, (200, 7)) / 4, rng.integers(0, 7, 200)
    order = np.argsort(-probs, axis=1, kind="stable")
    np.testing.assert_array_equal(rank_of_label(probs, labels), (order == labels[:, None]).argmax(axis=1))
    accumulator = ClassificationAccumulator(7)
    accumulator.update(probs, labels)
    result = accumulator.compute()
    assert result.n_right[0] == np.trace(result.confusion) == (order[:, 0] == labels).sum()


def test_a_class_without_photos_has_no_accuracy():
    result = eval_classification(np.eye(3)[:2], np.array([0, 1]))
    np.testing.assert_array_equal(result["class_accuracy"], [1, 1, np.nan])
    assert result["mean_class_accuracy"] == 1
    empty = eval_classification(np.zeros((0, 3)), [])
    assert all(np.isnan(empty[key]) for key in ("accuracy", "top1_accuracy", "top5_accuracy", "mean_class_accuracy"))


def test_ragged_batches_and_any_split_give_the_same_bits():
    rng = np.random.default_rng(2)
    probs, labels = rng.random((103, 5)), rng.integers(0, 5, 103)
    expected = eval_classification(probs, labels)
    parts = [ClassificationAccumulator(5) for _ in range(3)]
    for n, index in enumerate(np.array_split(rng.permutation(103), 7)):
        parts[n % 3].update(probs[index], labels[index])
    for other in parts[1:]:
        parts[0].merge(other)
    np.testing.assert_equal(parts[0].compute().to_dict(), expected)
    assert parts[0].compute().n_photo == 103
    for other in (ClassificationAccumulator(4), ClassificationAccumulator(5, top=(1,))):
        with pytest.raises(ConfigError):
            parts[0].merge(other)


@pytest.mark.parametrize(
    ("probs", "labels", "error", "words"),
    [
        (np.zeros((2, 3)), [0, 3], ValueRangeError, "image 1 is out of range"),
        (np.zeros((2, 3)), [0, -1], ValueRangeError, "image 1 is out of range"),
        (np.array([[0, 0, 0], [0, np.nan, 0]]), [0, 0], ValueRangeError, "image 1 hold NaN"),
        (np.zeros((2, 3)), [0], ShapeError, "labels"),
        (np.zeros((2, 3)), [0.0, 1.0], DtypeError, "integers"),
        (np.zeros(3), [0, 0, 0], ShapeError, "probs"),
    ],
)
def test_what_makes_no_sense_is_named_with_its_photo(probs, labels, error, words):
    with pytest.raises(error, match=words):
        eval_classification(probs, labels)


def test_settings_out_of_range_are_refused():
    for arguments in ((0, (1,)), (3, ()), (3, (0,))):
        with pytest.raises(ValueRangeError):
            ClassificationAccumulator(arguments[0], top=arguments[1])
    with pytest.raises(ShapeError, match="column per class"):
        ClassificationAccumulator(3).update(np.zeros((1, 4)), [0])
