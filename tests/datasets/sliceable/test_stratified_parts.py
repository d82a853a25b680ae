"""Splits in which every part has the same mix of classes."""

import numpy as np
import pytest

from cvzoo.datasets.sliceable.stratified_parts import stratified_parts
from cvzoo.datasets.sliceable.sub_dataset import split_dataset_stratified
from cvzoo.datasets.sliceable.tuple_dataset import TupleDataset
from cvzoo.errors.exceptions import ShapeError, ValueRangeError


def labels(*counts):
    """So many of each class, in a fixed random order."""
    return np.random.default_rng(3).permutation(np.repeat(np.arange(len(counts)), counts))


def test_single_labels_are_cut_by_their_shares():
    label = labels(50, 30, 15, 5)
    part = stratified_parts(label, (80, 20), seed=0)
    assert np.bincount(part).tolist() == [80, 20]
    assert np.bincount(label[part == 1]).tolist() == [10, 6, 3, 1]


def test_what_cannot_be_cut_goes_to_the_larger_part():
    label = labels(95, 2, 1, 1, 1)
    part = stratified_parts(label, (80, 20), seed=1)
    assert np.bincount(label[part == 1], minlength=5)[2:].tolist() == [0, 0, 0]


def test_many_labels_an_example_are_cut_by_their_shares():
    counts = np.random.default_rng(0).poisson([5, 1, 0.3, 0.05], (1000, 4))
    part = stratified_parts(counts, (700, 200, 100), seed=1)
    assert np.bincount(part).tolist() == [700, 200, 100]
    share = np.array([counts[part == p].sum(axis=0) / counts.sum(axis=0) for p in range(3)])
    np.testing.assert_allclose(share, np.array([[0.7], [0.2], [0.1]]) * np.ones((1, 4)), atol=0.02)
    photos = np.array([(counts[part == p] > 0).sum(axis=0) / (counts > 0).sum(axis=0) for p in range(3)])
    np.testing.assert_allclose(photos, share, atol=0.03)  # no part gets the crowded ones
    empty = counts.sum(axis=1) == 0
    assert abs(empty[part == 1].sum() - 0.2 * empty.sum()) < 2


def test_groups_stay_together():
    label = labels(60, 40)
    group = np.random.default_rng(1).integers(0, 20, 100)
    part = stratified_parts(label, (70, 30), groups=group, seed=0)
    assert all(len(set(part[group == g])) == 1 for g in range(20))
    assert abs((part == 0).sum() - 70) <= 5
    assert stratified_parts(label, (70, 30), groups=np.array(["one"] * 100), seed=0).tolist() == [0] * 100


def test_the_seed_decides():
    label = labels(40, 60)
    one, again, other = (stratified_parts(label, (50, 50), seed=seed).tolist() for seed in (0, 0, 1))
    assert one == again != other


@pytest.mark.parametrize("n", [0, 1, 3])
def test_few_examples_are_cut_too(n):
    sizes = (n - n // 3, n // 3)
    assert np.bincount(stratified_parts(np.zeros(n, int), sizes, seed=0), minlength=2).tolist() == list(sizes)


@pytest.mark.parametrize(
    ("strata", "sizes", "groups", "error"),
    [
        ([0, 1], (1, 2), None, ValueRangeError),
        ([0, 1], (3, -1), None, ValueRangeError),
        ([[-1.0], [2.0]], (1, 1), None, ValueRangeError),
        ([[np.nan], [2.0]], (1, 1), None, ValueRangeError),
        (np.zeros((2, 2, 2)), (1, 1), None, ShapeError),
        ([0, 1], (1, 1), [1, 2, 3], ShapeError),
    ],
)
def test_what_does_not_fit_is_refused(strata, sizes, groups, error):
    with pytest.raises(error):
        stratified_parts(np.asarray(strata), sizes, groups=groups, seed=0)


def test_a_data_set_is_split_in_two_that_keep_its_order():
    label = labels(60, 40)
    dataset = TupleDataset(np.arange(100), label)
    first, rest = split_dataset_stratified(dataset, 75, dataset.slice[:, 1], seed=0)
    assert (len(first), len(rest)) == (75, 25)
    assert [int((np.array([each[1] for each in part]) == 1).sum()) for part in (first, rest)] == [30, 10]
    numbers = [[int(each[0]) for each in part] for part in (first, rest)]
    assert numbers == [sorted(part) for part in numbers]
    assert sorted(numbers[0] + numbers[1]) == list(range(100))


def test_strata_of_another_length_are_refused():
    with pytest.raises((ShapeError, ValueRangeError)):
        split_dataset_stratified(np.arange(10), 5, np.zeros(9, int))
    with pytest.raises(ValueRangeError):
        split_dataset_stratified(np.arange(10), 11, np.zeros(10, int))
