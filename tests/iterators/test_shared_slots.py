import gc

import numpy as np
import pytest

from cvzoo.iterators.shared_slots import SharedSlots


def slots(n=4, *, n_kept=1, n_worker=2):
    return SharedSlots(n, 1024, n_worker=n_worker, n_kept=n_kept)


def taken(memory, worker=0):
    slot = memory.take(worker)
    memory.view(slot)[:4] = bytes([slot] * 4)
    return slot


@pytest.mark.slow
def test_a_lent_slot_is_free_again_when_the_last_array_in_it_dies():
    memory = slots(2, n_kept=0)
    for _ in range(5):
        one, two = taken(memory), taken(memory)
        assert {one, two} == {0, 1}
        assert memory.take(0) is None
        array = np.frombuffer(memory.lend(one), np.uint8)
        part = array[2:4]
        memory.give_back(two)
        del array
        assert (memory.take(0), memory.take(0)) == (two, None)
        assert part.tolist() == [one, one]
        memory.give_back(two)
        del part
        gc.collect()


def test_some_slots_are_never_lent():
    memory = slots(4, n_kept=1)
    views = [memory.lend(taken(memory)) for _ in range(4)]
    assert [view is None for view in views] == [False, False, False, True]
    memory.give_back(3)
    assert memory.take(0) == 3


def test_a_worker_gets_the_slots_it_had():
    memory = slots(4)
    mine, others = [memory.take(0) for _ in range(2)], [memory.take(1) for _ in range(2)]
    for slot in (*mine, *others):
        memory.give_back(slot)
    assert {memory.take(1), memory.take(1)} == set(others)
    assert memory.take(1) in mine


def test_known_slots_come_before_new_ones():
    memory = slots(4)
    memory.give_back(memory.take(0))
    assert memory.take(1) == 0
    assert memory.take(1) == 1


def test_lent_memory_outlives_the_closing():
    memory = slots()
    slot = taken(memory)
    array = np.frombuffer(memory.lend(slot), np.uint8)
    memory.close()
    memory.close()
    assert array[:4].tolist() == [slot] * 4
