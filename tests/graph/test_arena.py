import numpy as np

from cvzoo.backends.memory_views import address_of
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
