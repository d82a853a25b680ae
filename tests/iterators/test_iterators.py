import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worker_datasets import Numbers, Odd

from cvzoo.config.randomness import get_random_state, random_generator, set_seed
from cvzoo.datasets import TransformDataset
from cvzoo.errors.exceptions import ExampleError, ValueRangeError
from cvzoo.iterators import MultiprocessIterator, MultithreadIterator, SerialIterator

MAKERS = [
    SerialIterator,
    MultithreadIterator,
    lambda *args, **kwargs: MultithreadIterator(*args, **kwargs, n_threads=3, n_prefetch=2),
]
IDS = ["serial", "one thread", "three threads"]


def numbers(batch):
    return [int(label) for _, label, _ in batch]


def draws(batch):
    return [draw for _, _, draw in batch]


@pytest.fixture(params=MAKERS, ids=IDS)
def make(request):
    made = []

    def make(*args, **kwargs):
        made.append(request.param(*args, **kwargs))
        return made[-1]

    yield make
    for iterator in made:
        iterator.finalize()


def test_without_repeat_each_example_comes_once_and_the_last_batch_is_short(make):
    it = make(Numbers(5), 2, repeat=False, shuffle=False)
    assert [numbers(batch) for batch in it] == [[0, 1], [2, 3], [4]]
    assert (it.epoch, it.is_new_epoch, it.epoch_detail) == (1, True, 1.0)
    with pytest.raises(StopIteration):
        it.next()


def test_chainers_attributes_follow_the_batches(make):
    it = make(Numbers(4), 3, shuffle=False)
    assert (it.epoch, it.is_new_epoch, it.epoch_detail, it.previous_epoch_detail) == (0, False, 0.0, None)
    seen = []
    for _ in range(4):
        batch = numbers(it.next())
        seen.append((batch, it.epoch, it.is_new_epoch, it.epoch_detail, it.previous_epoch_detail, it.current_position))
    assert seen == [
        ([0, 1, 2], 0, False, 0.75, 0.0, 3),
        ([3, 0, 1], 1, True, 1.5, 0.75, 2),
        ([2, 3, 0], 2, True, 2.25, 1.5, 1),
        ([1, 2, 3], 3, True, 3.0, 2.25, 0),
    ]


def test_a_batch_may_be_larger_than_the_data_set(make):
    it = make(Numbers(2), 5, shuffle=False)
    assert numbers(next(it)) == [0, 1, 0, 1, 0]
    assert (it.epoch, it.current_position) == (2, 1)
    assert numbers(next(make(Numbers(2), 5, repeat=False, shuffle=False))) == [0, 1]


def test_every_epoch_has_every_example_in_an_order_of_its_own(make):
    it = make(Numbers(20), 4, seed=3)
    epochs = [[number for _ in range(5) for number in numbers(next(it))] for _ in range(3)]
    assert all(sorted(epoch) == list(range(20)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 3


def test_all_iterators_give_the_same_batches_and_draws_for_a_seed(make):
    first, second = SerialIterator(Numbers(11), 4, seed=7), make(Numbers(11), 4, seed=7)
    for _ in range(8):
        one, two = next(first), next(second)
        assert (numbers(one), draws(one)) == (numbers(two), draws(two))
    assert numbers(next(make(Numbers(11), 4, seed=8))) != numbers(next(make(Numbers(11), 4, seed=7)))


def test_what_an_example_draws_depends_on_the_epoch_and_not_on_the_batch():
    by_number = {}
    for batch_size in (1, 4):
        it = SerialIterator(Numbers(6), batch_size, seed=2)
        for _ in range(12 // batch_size):
            epoch = it.epoch
            for number, draw in zip(numbers(batch := next(it)), draws(batch)):
                by_number.setdefault((number, draw), set()).add((batch_size, epoch))
    assert all(len(where) == 2 for where in by_number.values())
    assert len(by_number) == 12


def test_reading_leaves_the_users_generator_alone():
    set_seed(5)
    before = get_random_state()
    next(SerialIterator(Numbers(), 3, seed=0))
    assert get_random_state() == before


def test_a_seed_that_is_not_given_comes_from_cvzoos_generator(make):
    set_seed(1)
    first = make(Numbers(), 3)
    set_seed(1)
    second = make(Numbers(), 3)
    assert first.seed == second.seed
    assert numbers(next(first)) == numbers(next(second))
    assert random_generator().random() >= 0


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(1, 7), st.integers(0, 9), st.booleans(), st.booleans(), st.sampled_from(MAKERS))
def test_resuming_anywhere_goes_on_exactly(n, batch_size, n_before, repeat, shuffle, maker):
    it = maker(Numbers(n), batch_size, repeat=repeat, shuffle=shuffle, seed=4)
    for _ in range(n_before):
        next(it, None)
    state = it.state()
    assert all(type(value) is int for value in state.values())
    other = maker(Numbers(n), batch_size, repeat=repeat, shuffle=shuffle, seed=99)
    next(other, None)
    other.load_state(state)
    assert (other.epoch, other.epoch_detail, other.is_new_epoch) == (it.epoch, it.epoch_detail, it.is_new_epoch)
    assert other.previous_epoch_detail == it.previous_epoch_detail
    for _ in range(4):
        one, two = next(it, None), next(other, None)
        assert (one is None) == (two is None)
        if one is not None:
            assert (numbers(one), draws(one)) == (numbers(two), draws(two))
    it.finalize()
    other.finalize()


def test_reset_begins_anew_with_the_same_order(make):
    it = make(Numbers(7), 3, repeat=False, seed=1)
    first = [numbers(batch) for batch in it]
    it.reset()
    assert it.epoch == 0
    assert [numbers(batch) for batch in it] == first


def test_a_copy_goes_its_own_way(make):
    it = make(Numbers(9), 2, seed=1)
    next(it)
    other = copy.copy(it)
    expected = [numbers(next(other)) for _ in range(3)]
    other.finalize()
    assert [numbers(next(it)) for _ in range(3)] == expected


def test_errors_name_the_photo_and_the_batch_can_be_tried_again(make):
    dataset = Odd("error")
    it = make(dataset, 4, repeat=False, shuffle=False)
    assert numbers(next(it)) == [0, 1, 2, 3]
    for _ in range(2):
        with pytest.raises(ExampleError, match=r"example 5 \(photos/5\.jpg\).*the image is cut off") as caught:
            next(it)
        assert isinstance(caught.value.__cause__, ValueError)
        assert it.current_position == 4
    dataset.kind = "mended"
    assert numbers(next(it)) == [4, 5, 6, 7]


def test_a_stop_iteration_in_a_data_set_is_no_end(make):
    it = make(Odd("stop"), 12, repeat=False, shuffle=False)
    with pytest.raises(ExampleError, match="StopIteration"):
        list(it)


def test_reading_on_after_finalize_is_allowed(make):
    with make(Numbers(6), 2, shuffle=False) as it:
        next(it)
    assert numbers(next(it)) == [2, 3]
    it.finalize()
    it.finalize()


def test_an_empty_data_set_ends_at_once(make):
    it = make([], 2, repeat=False)
    assert (list(it), it.epoch_detail) == ([], 0.0)


BAD = [
    (lambda: SerialIterator([], 2), "empty"),
    (lambda: SerialIterator([1], 0), "batch_size"),
    (lambda: SerialIterator([1], 1.5), "batch_size"),
    (lambda: SerialIterator([1], 1, seed=-1), "seed"),
    (lambda: MultithreadIterator([1], 1, n_threads=0), "n_threads"),
    (lambda: SerialIterator([1], 1).load_state({"epoch": 1}), "not the state"),
    (lambda: SerialIterator([1], 1).load_state(SerialIterator([1, 2], 1).state()), "another n_example"),
    (lambda: SerialIterator([1], 1).load_state(SerialIterator([1], 1, shuffle=False).state()), "another shuffle"),
    (
        lambda: SerialIterator([1], 1).load_state({**SerialIterator([1], 1).state(), "position": 2}),
        "outside the data set",
    ),
]


@pytest.mark.parametrize(("act", "text"), BAD)
def test_bad_use_is_explained(act, text):
    with pytest.raises(ValueRangeError, match=text):
        act()


def test_plain_lists_and_arrays_are_data_sets():
    assert next(SerialIterator(np.arange(4), 4, shuffle=False)) == [0, 1, 2, 3]
    with pytest.raises(ExampleError, match="example 0 cannot be read: KeyError"):
        next(SerialIterator({1: 2}, 1))


def _broken(example):
    raise ValueError("too many values to unpack")


@pytest.mark.parametrize(
    "make",
    [
        lambda data: SerialIterator(data, 2, shuffle=False),
        lambda data: MultithreadIterator(data, 2, shuffle=False),
        lambda data: MultiprocessIterator(data, 2, shuffle=False, n_processes=1, start_method="fork"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_transform_that_fails_is_blamed_and_not_the_photo(make):
    with make(TransformDataset(np.zeros(4), "value", _broken)) as it, pytest.raises(ExampleError) as caught:
        next(it)
    first = str(caught.value).splitlines()[0]
    assert first == "the transform _broken failed on example 0: ValueError: too many values to unpack"
