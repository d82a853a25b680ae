"""Parts of data sets and batches: each example once, whatever the number of ranks, also after a resume."""

import copy
import itertools

import numpy as np
import pytest
from on_ranks import on_ranks

import cvzoo
from cvzoo.config import batch_generator, random_generator
from cvzoo.datasets import TupleDataset
from cvzoo.distributed import (
    create_multi_node_iterator,
    create_synchronized_iterator,
    scatter_batches,
    scatter_dataset,
)
from cvzoo.errors import ShapeError, ValueRangeError
from cvzoo.iterators import MultiprocessIterator, MultithreadIterator, SerialIterator


def joined(lists):
    return list(itertools.chain.from_iterable(lists))


@on_ranks(1, 2, 3)
def test_parts_of_a_data_set_have_each_example_once_and_marked_padding(comm):
    for n in (0, 1, 2, 7, 9):
        for shuffle in (False, True):
            part = scatter_dataset(list(range(n)), comm, shuffle, seed=3)
            own = [part[k] for k in range(part.n_own)]
            everyone = comm.allgather_obj(own)
            assert sorted(joined(everyone)) == list(range(n))
            assert shuffle or joined(everyone) == list(range(n))
            assert not part.n_own or len(part) == -(-n // comm.size)
            assert [part[k] for k in range(part.n_own, len(part))] == own[-1:] * (len(part) - part.n_own)
            assert len(scatter_dataset(list(range(n)), comm, force_equal_length=False)) == part.n_own
    drawn = scatter_dataset(list(range(50)), comm, shuffle=True)
    assert sorted(joined(comm.allgather_obj([drawn[k] for k in range(drawn.n_own)]))) == list(range(50))
    pairs = scatter_dataset(TupleDataset(("a", np.arange(5)), ("b", np.arange(5) * 2)), comm)
    assert pairs.keys == ("a", "b")
    assert pairs[0][1] == 2 * pairs[0][0]


@on_ranks(2, 3)
def test_data_of_different_lengths_are_an_error_on_all_ranks(comm):
    data = list(range(5 + (comm.rank == 1)))
    with pytest.raises(ShapeError, match="5 examples on rank 0, 6 on rank 1"):
        scatter_dataset(data, comm)
    with pytest.raises(ShapeError, match="5 examples in batches of 4 on rank 0, 6 in batches of 4 on rank 1"):
        scatter_batches(SerialIterator(data, 4), comm)


def serial(n, batch_size, seed):
    return SerialIterator(list(range(n)), batch_size, seed=seed)


class Augmented:
    """Numbers, with a random number of each example and one that the examples of a batch share."""

    def __len__(self):
        return 10

    def __getitem__(self, index):
        return index, float(random_generator().random()), float(batch_generator().random())


@on_ranks(1, 2, 3)
def test_examples_are_augmented_as_in_one_process_whichever_rank_reads_them(comm):
    alone = SerialIterator(Augmented(), 4, seed=7)
    mine = scatter_batches(SerialIterator(Augmented(), 4, seed=comm.rank + 7), comm)
    for _ in range(5):
        cvzoo.set_seed(comm.rank)
        expected = next(alone)
        assert [tuple(each) for each in joined(comm.allgather_obj([list(each) for each in next(mine)]))] == expected
        assert len({shared for _, _, shared in expected}) == 1
        assert len({own for _, own, _ in expected}) == 4


@on_ranks(1, 2, 3)
def test_parts_of_batches_are_the_batches_of_one_process(comm):
    alone = serial(10, 4, 7)
    for make in (serial, lambda n, size, seed: MultithreadIterator(list(range(n)), size, seed=seed)):
        alone.reset()
        with scatter_batches(make(10, 4, 7 if comm.rank == 0 else None), comm) as mine:
            for _ in range(8):
                parts = comm.allgather_obj(next(mine))
                assert joined(parts) == next(alone)
                assert max(map(len, parts)) - min(map(len, parts)) <= 1
                assert (mine.epoch, mine.epoch_detail) == (alone.epoch, alone.epoch_detail)
            again = copy.copy(mine)
            assert next(again) == next(mine)


def test_a_state_resumes_on_another_number_of_parts():
    alone = serial(12, 5, 7)
    expected = [next(alone) for _ in range(9)]
    state, found = serial(12, 5, 7).state(), []
    for step, n_part in enumerate((3, 3, 1, 2, 4, 4, 2, 3, 1)):
        parts = [serial(12, 5, 1).take_part(k, n_part) for k in range(n_part)]
        for part in parts:
            part.load_state(state)
        found.append(joined([next(part) for part in parts]))
        assert found[step] == expected[step]
        state = parts[-1].state()


@pytest.mark.slow
def test_worker_processes_read_only_their_part():
    with MultiprocessIterator(list(range(10)), 4, n_processes=1, seed=7).take_part(1, 2) as part:
        alone = serial(10, 4, 7)
        assert [next(part) for _ in range(4)] == [next(alone)[2:] for _ in range(4)]


def test_parts_that_would_be_empty_are_refused():
    for iterator, part in ((serial(5, 2, 0), (0, 3)), (SerialIterator([1], 4, repeat=False), (0, 2))):
        with pytest.raises(ValueRangeError, match="some parts of batches would be empty"):
            iterator.take_part(*part)
    with pytest.raises(ValueRangeError, match="there is no such part"):
        serial(5, 4, 0).take_part(2, 2)
    with pytest.raises(ValueRangeError, match="the data set has fewer examples"):
        serial(5, 4, 0).take_first(6)


@on_ranks(2)
def test_synchronized_iterators_have_the_same_batches(comm):
    iterator = serial(10, 3, comm.rank)
    for _ in range(comm.rank):
        next(iterator)
    iterator = create_synchronized_iterator(iterator, comm)
    for _ in range(5):
        first, second = comm.allgather_obj(next(iterator))
        assert first == second


@on_ranks(1, 2, 3)
def test_batches_of_one_rank_are_those_of_all(comm):
    examples = [(np.full(2, k, np.float32), k) for k in range(5)]
    master = comm.size - 1
    mine = SerialIterator(examples if comm.rank == master else examples[:1] * 5, 2, repeat=False, shuffle=False)
    iterator = create_multi_node_iterator(mine, comm, master)
    for _ in range(2):
        batches = list(iterator)
        assert [[label for _, label in batch] for batch in batches] == [[0, 1], [2, 3], [4]]
        np.testing.assert_array_equal(batches[1][1][0], [3, 3])
        assert (iterator.epoch, iterator.is_new_epoch, iterator.epoch_detail) == (1, True, 1.0)
        iterator.reset()
        assert iterator.epoch == 0
    assert len(iterator.next()) == 2
    iterator.load_state(iterator.state())
    assert iterator.current_position == 2
