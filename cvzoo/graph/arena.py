"""The memory that replays compute in."""

import weakref
from typing import Protocol

import numpy as np

from cvzoo.backends.onednn.pool import aligned_memory


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
