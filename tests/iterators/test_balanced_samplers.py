"""Balanced, repeated and grouped orders, the same in every iterator and after a resume."""

import collections

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worker_datasets import Numbers

from cvzoo import config
from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.iterators import (
    ClassBalancedOrderSampler,
    GroupedOrderSampler,
    MultiprocessIterator,
    RepeatFactorOrderSampler,
    SerialIterator,
    aspect_ratio_groups,
)

SINGLE = st.lists(st.integers(0, 4), min_size=1, max_size=30)
SEVERAL = st.lists(st.lists(st.integers(0, 4), max_size=3), min_size=1, max_size=30)


def order_of(sampler, n, seed=0):
    config.set_seed(seed)
    return sampler(np.arange(n), 0)


@given(SINGLE, st.integers(0, 99), st.one_of(st.none(), st.integers(1, 50)))
def test_classes_are_drawn_equally_often_and_their_examples_in_turn(labels, seed, length):
    order = order_of(ClassBalancedOrderSampler(labels, length=length), len(labels), seed)
    assert len(order) == (length or len(labels))
    counts = collections.Counter(np.array(labels)[order].tolist())
    of_class = [counts[label] for label in set(labels)]
    assert max(of_class) - min(of_class) <= 1
    for label in set(labels):
        of_example = [np.count_nonzero(order == i) for i, own in enumerate(labels) if own == label]
        assert max(of_example) - min(of_example) <= 1


def test_images_without_objects_are_a_class_of_their_own():
    labels = [np.array([0, 0, 1]), np.array([], np.int32), np.array([0]), np.array([0])]
    order = order_of(ClassBalancedOrderSampler(labels, length=30), 4)
    counts = np.bincount(order, minlength=4)
    assert counts[1] == 10
    assert counts[0] >= 10  # the only one of class 1, and one of class 0


@given(SEVERAL, st.integers(0, 99), st.floats(0.01, 1))
def test_repeat_factors_are_those_of_the_paper(labels, seed, thresh):
    sampler = RepeatFactorOrderSampler(labels, thresh)
    share = {c: np.mean([c in each for each in labels]) for each in labels for c in each}
    expected = [max([1.0, *(np.sqrt(thresh / share[c]) for c in each)]) for each in labels]
    np.testing.assert_allclose(sampler.factors, expected)
    counts = np.bincount(order_of(sampler, len(labels), seed), minlength=len(labels))
    assert (counts >= np.floor(sampler.factors)).all()
    assert (counts <= np.ceil(sampler.factors)).all()


def test_repeat_factors_hold_in_the_mean():
    labels = [[0]] * 19 + [[0, 1]]
    sampler = RepeatFactorOrderSampler(labels, 0.16)  # sqrt(0.16 / 0.05)
    counts = [np.count_nonzero(order_of(sampler, 20, seed) == 19) for seed in range(400)]
    assert set(counts) == {1, 2}
    assert np.mean(counts) == pytest.approx(np.sqrt(3.2), abs=0.06)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(1, 7), st.integers(0, 99))
def test_every_batch_is_of_one_group_and_no_example_is_left_out(groups, batch_size, seed):
    order = order_of(GroupedOrderSampler(groups, batch_size), len(groups), seed)
    assert len(order) % batch_size == 0
    for batch in np.array(groups)[order].reshape(-1, batch_size):
        assert len(set(batch.tolist())) == 1
    assert set(order.tolist()) == set(range(len(groups)))
    assert len(order) - len(groups) < batch_size * len(set(groups))


def test_a_grouped_order_has_the_repeats_of_its_sampler():
    groups, labels = [0, 1] * 10, [[0]] * 19 + [[1]]
    sampler = GroupedOrderSampler(groups, 5, RepeatFactorOrderSampler(labels, 1.0))
    order = order_of(sampler, 20)
    assert np.count_nonzero(order == 19) >= 4  # sqrt(20)
    assert all(len(set(batch)) == 1 for batch in np.array(groups)[order].reshape(-1, 5).tolist())


SAMPLERS = {
    "balanced": lambda: ClassBalancedOrderSampler([0] * 15 + [1, 1, 2]),
    "repeated": lambda: RepeatFactorOrderSampler([[0]] * 15 + [[1], [1, 2], []], 0.5),
    "grouped": lambda: GroupedOrderSampler([0, 1, 1] * 6, 4, ClassBalancedOrderSampler([0] * 15 + [1, 1, 2])),
}


@pytest.mark.parametrize("make", SAMPLERS.values(), ids=SAMPLERS)
def test_workers_and_resumed_iterators_have_the_same_order(make):
    def numbers(iterator, n):
        return [[int(label) for _, label, _ in iterator.next()] for _ in range(n)]

    with SerialIterator(Numbers(18), 4, seed=3, order_sampler=make()) as serial:
        expected = numbers(serial, 14)
        assert expected != sorted(expected)
    with MultiprocessIterator(
        Numbers(18), 4, seed=3, order_sampler=make(), n_processes=2, start_method="fork"
    ) as processes:
        assert numbers(processes, 7) == expected[:7]
        state = processes.state()
    with SerialIterator(Numbers(18), 4, seed=0, order_sampler=make()) as resumed:
        resumed.load_state(state)
        assert numbers(resumed, 7) == expected[7:]


def test_aspect_ratios_are_grouped_wide_ones_first():
    sizes = [(100, 200), (200, 100), (100, 100), (300, 100)]
    assert aspect_ratio_groups(sizes).tolist() == [0, 1, 1, 1]
    assert aspect_ratio_groups(sizes, (0.75, 1.5, 2.5)).tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: ClassBalancedOrderSampler([]), ValueRangeError),
        (lambda: ClassBalancedOrderSampler([0, 1], length=0), ValueRangeError),
        (lambda: ClassBalancedOrderSampler([0.5]), ShapeError),
        (lambda: ClassBalancedOrderSampler([-1]), ValueRangeError),
        (lambda: RepeatFactorOrderSampler([[0]], 0), ValueRangeError),
        (lambda: RepeatFactorOrderSampler([]), ValueRangeError),
        (lambda: GroupedOrderSampler([0.5], 2), ShapeError),
        (lambda: GroupedOrderSampler([0], 0), ValueRangeError),
        (lambda: aspect_ratio_groups([1, 2]), ShapeError),
        (lambda: aspect_ratio_groups([(0, 2)]), ValueRangeError),
        (lambda: aspect_ratio_groups([(1, 2)], (2, 1)), ValueRangeError),
    ],
)
def test_wrong_arguments_are_refused(make, error):
    with pytest.raises(error):
        make()
