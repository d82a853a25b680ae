import numpy as np

from cvzoo.backends.memory_views import address_of
from cvzoo.backends.onednn.pool import pool
from cvzoo.graph.memory_plan import Arena


class Tenant:
    def __init__(self):
        self.displaced = 0

    def displace(self):
        self.displaced += 1


def test_memory_is_aligned_and_stays_while_it_is_large_enough():
    arena, one, other = Arena(), Tenant(), Tenant()
    memory = arena.reserve(1000, one)
    assert memory.nbytes >= 1000
    assert address_of(memory) % 64 == 0
    one.displaced = 0
    assert address_of(arena.reserve(600, other)) == address_of(memory)
    assert (one.displaced, other.displaced) == (0, 0)


def test_those_that_share_it_are_told_when_it_moves():
    arena, one, other = Arena(), Tenant(), Tenant()
    arena.reserve(100, one)
    one.displaced = 0
    assert arena.reserve(5000, other).nbytes >= 5000
    assert one.displaced == 1


def test_it_keeps_nobody_alive():
    arena = Arena()
    arena.reserve(100, Tenant())
    assert arena.reserve(200, Tenant()).dtype == np.uint8
    assert len(arena._tenants) <= 1


def test_large_memory_is_the_pools_between_two_runs_and_small_memory_stays():
    for nbytes, is_lent in ((40 << 20, True), (1 << 20, False)):
        pool.release()
        arena, one = Arena(is_lent=True), Tenant()
        arena.reserve(nbytes, one)
        live = pool.live_bytes
        one.displaced = 0
        arena.lend()
        assert one.displaced == is_lent
        assert (live - pool.live_bytes >= nbytes) == is_lent
        assert arena.reserve(nbytes, one).nbytes >= nbytes


def test_memory_that_both_passes_of_a_training_share_is_never_lent():
    arena, one = Arena(), Tenant()
    memory = arena.reserve(40 << 20, one)
    one.displaced = 0
    arena.lend()
    assert one.displaced == 0
    assert address_of(arena.reserve(40 << 20, one)) == address_of(memory)
