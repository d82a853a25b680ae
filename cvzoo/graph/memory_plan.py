"""Memory planning: offsets in one arena for blocks with known lifetimes."""

import bisect
import dataclasses
import weakref
from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np

from cvzoo.backends.onednn.pool import ALIGNMENT, aligned_memory, pool


class Tenant(Protocol):
    """A user of an arena."""

    def displace(self) -> None:
        """Release all arrays in the arena, which is about to move."""


_LARGE = 32 << 20  # bytes; to bind the calls to new addresses takes about a millisecond


class Arena:
    """Memory that grows to the largest requested size; programs that share it run one at a time.

    is_lent: whether it is from the memory pool, and returned to it by `lend`, so that other arrays can have it between
        two runs
    """

    def __init__(self, *, is_lent: bool = False) -> None:
        self.is_lent = is_lent
        self._memory = np.empty(0, np.uint8)
        self._tenants: weakref.WeakSet[Tenant] = weakref.WeakSet()

    def reserve(self, nbytes: int, tenant: Tenant) -> np.ndarray:
        """(N,) uint8 of at least `nbytes`, aligned, of undefined values; at the same address as before unless it had
        to grow."""
        self._tenants.add(tenant)
        if self._memory.nbytes < nbytes:
            for each in self._tenants:
                each.displace()
            self._memory = np.empty(0, np.uint8)  # freed before the larger one is allocated, which lowers the peak
            if self.is_lent and nbytes <= pool.limit // 2:
                self._memory = pool.take((nbytes,), (1,), self._memory.dtype, nbytes)
            else:
                memory, start = aligned_memory(nbytes)
                self._memory = memory[start : start + nbytes]
        return self._memory

    def lend(self) -> None:
        """Return the memory to the pool until the next run, if it is large; the pool keeps it resident."""
        if self.is_lent and _LARGE <= self._memory.nbytes <= pool.limit // 2:
            for each in self._tenants:
                each.displace()
            self._memory = np.empty(0, np.uint8)


class Lifetime(NamedTuple):
    """nbytes from step `first` to step `last`, both included."""

    nbytes: int
    first: int
    last: int


@dataclasses.dataclass(frozen=True)
class MemoryPlan:
    """offsets: of each block, aligned; nbytes: of the arena; lower_bound: the minimum possible."""

    offsets: Mapping[int, int]
    nbytes: int
    lower_bound: int


def most_alive(lifetimes: Mapping[int, tuple[int, int, int]]) -> int:
    """The peak of live bytes, each block rounded up to the alignment."""
    changes: dict[int, int] = {}
    for nbytes, first, last in lifetimes.values():
        size = -(-nbytes // ALIGNMENT) * ALIGNMENT
        changes[first] = changes.get(first, 0) + size
        changes[last + 1] = changes.get(last + 1, 0) - size
    alive = most = 0
    for step in sorted(changes):
        alive += changes[step]
        most = max(most, alive)
    return most


def plan_memory(lifetimes: Mapping[int, tuple[int, int, int]]) -> MemoryPlan:
    """Greedy by size: the largest block first, each at the lowest offset that is free during its lifetime.

    Source: Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020, section 5.2 (greedy by
    size). Differs in one point: first fit by offset instead of best fit.
    """
    order = sorted([(-nbytes, first, block, last) for block, (nbytes, first, last) in lifetimes.items()])
    offsets: dict[int, int] = {}
    placed: list[tuple[int, int, int, int]] = []  # start, stop, first, last
    end = 0
    for negative, first, block, last in order:
        size = -(negative // ALIGNMENT) * ALIGNMENT
        # the end of the blocks so far; `placed` is sorted by start, so the first sufficient gap is the lowest one
        offset = 0
        for start, stop, begin, finish in placed:
            if begin > last or finish < first:
                continue
            if start - offset >= size:
                break
            offset = max(offset, stop)
        offsets[block] = offset
        bisect.insort(placed, (offset, offset + size, first, last))
        end = max(end, offset + size)
    return MemoryPlan(offsets, end, most_alive(lifetimes))
