"""Iterators whose order a sampler decides on."""

import copy
import itertools

import numpy as np
import pytest
from worker_datasets import Numbers

from cvzoo.config.randomness import random_generator, set_seed
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.iterators import (
    MultiprocessIterator,
    MultithreadIterator,
    OrderSampler,
    SerialIterator,
    ShuffleOrderSampler,
)

ITERATORS = [SerialIterator, MultithreadIterator]


class Reversed(OrderSampler):
    """Each epoch backwards as to the one before; remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, current_order, current_position):
        self.asked.append((current_order.tolist(), current_position))
        return current_order[::-1]


class Balanced(OrderSampler):
    """Twice as many of the rare examples, the last two."""

    def __call__(self, current_order, current_position):
        return random_generator().permutation([0, 1, 2, 3, 3, 4, 4])


def numbers(batch):
    return [int(label) for _, label, _ in batch]


def epochs(iterator, n):
    """What n epochs give."""
    found = []
    while iterator.epoch < n:
        found += numbers(iterator.next())
    return found


@pytest.mark.parametrize("make", ITERATORS)
def test_the_sampler_is_asked_once_an_epoch_with_the_order_before(make):
    sampler = Reversed()
    with make(Numbers(3), 2, order_sampler=sampler) as it:
        assert [numbers(it.next()) for _ in range(4)] == [[2, 1], [0, 0], [1, 2], [2, 1]]
        assert it.epoch_detail == 2 + 2 / 3
    assert sampler.asked[:3] == [([0, 1, 2], 0), ([2, 1, 0], 3), ([0, 1, 2], 3)]


@pytest.mark.parametrize("make", ITERATORS)
def test_an_epoch_is_as_long_as_its_order(make):
    with make(Numbers(5), 2, repeat=False, order_sampler=Balanced(), seed=0) as it:
        batches = [numbers(batch) for batch in it]
    assert [len(batch) for batch in batches] == [2, 2, 2, 1]
    assert sorted(itertools.chain(*batches)) == [0, 1, 2, 3, 3, 4, 4]
    assert (it.epoch, it.previous_epoch_detail) == (1, 6 / 7)


def test_a_shuffling_sampler_takes_each_example_once_in_orders_of_the_seed():
    found = [epochs(SerialIterator(Numbers(6), 2, order_sampler=ShuffleOrderSampler(), seed=7), 2) for _ in range(2)]
    assert found[0] == found[1]
    assert sorted(found[0][:6]) == sorted(found[0][6:]) == list(range(6))
    assert found[0][:6] != found[0][6:]


def test_a_sampler_may_have_random_numbers_of_its_own():
    set_seed(0)
    sampler = ShuffleOrderSampler(np.random.RandomState(3))
    it = SerialIterator(Numbers(6), 6, order_sampler=sampler)
    assert numbers(it.next()) == np.random.RandomState(3).permutation(6).tolist()


@pytest.mark.parametrize("sampler", [ShuffleOrderSampler, Balanced, Reversed])
@pytest.mark.parametrize("n_read", [0, 2, 3, 7, 30])
def test_a_resumed_iterator_goes_on_as_if_nothing_had_happened(sampler, n_read):
    it = SerialIterator(Numbers(5), 2, order_sampler=sampler(), seed=3)
    for _ in range(n_read):
        it.next()
    again = SerialIterator(Numbers(5), 2, order_sampler=sampler(), seed=99)
    again.load_state(it.state())
    twin = copy.copy(it)
    assert again.epoch_detail == it.epoch_detail
    wanted = [numbers(it.next()) for _ in range(9)]
    assert [numbers(again.next()) for _ in range(9)] == wanted
    assert [numbers(twin.next()) for _ in range(9)] == wanted


def test_reset_begins_with_the_first_order():
    it = SerialIterator(Numbers(4), 4, order_sampler=ShuffleOrderSampler(), seed=1)
    first = [numbers(it.next()) for _ in range(6)]
    it.reset()
    assert [numbers(it.next()) for _ in range(6)] == first


def test_worker_processes_read_the_same_order():
    with MultiprocessIterator(Numbers(5), 3, n_processes=1, order_sampler=Balanced(), seed=2) as it:
        assert epochs(it, 2) == epochs(SerialIterator(Numbers(5), 3, order_sampler=Balanced(), seed=2), 2)


BAD = {
    "both": ({"shuffle": True, "order_sampler": Balanced()}, ValueRangeError, "both decide on the order"),
    "no function": ({"order_sampler": 3}, ValueRangeError, "must be callable"),
    "nothing": ({"order_sampler": lambda order, at: []}, ShapeError, "returned no order"),
    "a table": ({"order_sampler": lambda order, at: [[1]]}, ShapeError, "returned no order"),
    "unknown": ({"order_sampler": lambda order, at: order + 1}, ValueRangeError, "an index that is out of range"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_samplers_are_refused(case):
    settings, error, message = BAD[case]
    with pytest.raises(error, match=message):
        SerialIterator(Numbers(3), 2, **settings).next()


def test_a_state_of_another_order_is_refused():
    state = SerialIterator(Numbers(3), 2, seed=0).state()
    with pytest.raises(ValueRangeError, match="another shuffle"):
        SerialIterator(Numbers(3), 2, order_sampler=Balanced()).load_state(state)
