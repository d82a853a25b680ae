"""Where blocks lie in one arena, so that those that live at the same time do not overlap."""

import bisect
import dataclasses
import weakref
from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np

from cvzoo.backends.onednn.pool import ALIGNMENT, aligned_memory


class Tenant(Protocol):
    """Who has arrays in an arena."""

    def displace(self) -> None:
        """Let go of all of them, since the arena moves."""


class Arena:
    """Memory that grows to the largest size that was asked for; those that share it use it by turns."""

    def __init__(self) -> None:
        self._memory = np.empty(0, np.uint8)
        self._tenants: weakref.WeakSet[Tenant] = weakref.WeakSet()

    def reserve(self, nbytes: int, tenant: Tenant) -> np.ndarray:
        """(N,) uint8 of at least `nbytes`, aligned, of undefined values; at the same place as before if it did not
        have to grow."""
        self._tenants.add(tenant)
        if self._memory.nbytes < nbytes:
            for each in self._tenants:
                each.displace()
            self._memory = np.empty(0, np.uint8)  # before the larger one is made
            memory, start = aligned_memory(nbytes)
            self._memory = memory[start : start + nbytes]
        return self._memory


class Lifetime(NamedTuple):
    """nbytes from step `first` to step `last`, both included."""

    nbytes: int
    first: int
    last: int


@dataclasses.dataclass(frozen=True)
class MemoryPlan:
    """offsets: of each block, aligned; nbytes: of the arena; lower_bound: less is impossible."""

    offsets: Mapping[int, int]
    nbytes: int
    lower_bound: int


def most_alive(lifetimes: Mapping[int, tuple[int, int, int]]) -> int:
    """How many bytes live at once at most, each block rounded up to where the next may begin."""
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
    """Offsets by the greedy rule: the largest block first, each at the lowest place that is free while it lives.

    Source: Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020, section 5.2 (greedy by
    size). Where we differ: the smallest gap that fits is not looked for, the lowest is.
    """
    order = sorted([(-nbytes, first, block, last) for block, (nbytes, first, last) in lifetimes.items()])
    offsets: dict[int, int] = {}
    placed: list[tuple[int, int, int, int]] = []  # start, stop, first, last
    end = 0
    for negative, first, block, last in order:
        size = -(negative // ALIGNMENT) * ALIGNMENT
        place = 0
        for start, stop, begin, finish in placed:
            if begin > last or finish < first:
                continue
            if start - place >= size:
                break
            place = max(place, stop)
        offsets[block] = place
        bisect.insort(placed, (place, place + size, first, last))
        end = max(end, place + size)
    return MemoryPlan(offsets, end, most_alive(lifetimes))
