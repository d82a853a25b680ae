"""Where blocks lie in one arena, so that those that live at the same time do not overlap."""

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

from cvzoo.backends.onednn.pool import ALIGNMENT


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


def _padded(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def most_alive(lifetimes: Mapping[int, Lifetime]) -> int:
    """How many bytes live at once at most, each block rounded up to where the next may begin."""
    changes: dict[int, int] = {}
    for nbytes, first, last in lifetimes.values():
        changes[first] = changes.get(first, 0) + _padded(nbytes)
        changes[last + 1] = changes.get(last + 1, 0) - _padded(nbytes)
    alive = most = 0
    for step in sorted(changes):
        alive += changes[step]
        most = max(most, alive)
    return most


def plan_memory(lifetimes: Mapping[int, Lifetime]) -> MemoryPlan:
    """Offsets by the greedy rule: the largest block first, each at the lowest place that is free while it lives.

    Source: Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020, section 5.2 (greedy by
    size). Where we differ: the smallest gap that fits is not looked for, the lowest is.
    """
    order = sorted(lifetimes, key=lambda block: (-lifetimes[block].nbytes, lifetimes[block].first, block))
    offsets: dict[int, int] = {}
    end = 0
    for block in order:
        nbytes, first, last = lifetimes[block]
        size = _padded(nbytes)
        busy = sorted(
            (offsets[other], offsets[other] + _padded(lifetimes[other].nbytes))
            for other in offsets
            if lifetimes[other].first <= last and lifetimes[other].last >= first
        )
        place = 0
        for start, stop in busy:
            if start - place >= size:
                break
            place = max(place, stop)
        offsets[block] = place
        end = max(end, place + size)
    return MemoryPlan(offsets, end, most_alive(lifetimes))
