"""Slots for examples in shared memory, reused when no array refers to them any more."""

import collections
import ctypes
import weakref

from cvzoo.iterators.shared_block import SharedBlock


class SharedSlots:
    """`n` slots of `size` bytes for `n_worker` workers.

    n_kept: slots that are never lent, so that workers are not blocked by a caller who retains all lent ones
    block: the memory, for the workers; slot i begins at i * size

    A slot is free, or a worker's (from `take` to `give_back` or `lend`), or lent, as long as anything refers to it.
    """

    def __init__(self, n: int, size: int, *, n_worker: int, n_kept: int) -> None:
        self.block = SharedBlock(n * size)
        self._kind = ctypes.c_char * size
        self._size = size
        # a page fault on first access costs most: a worker preferably gets a slot that it had before, then one that
        # another worker had, and a new one last
        self._new = list(range(n))[::-1]
        self._used: list[list[int]] = [[] for _ in range(n_worker)]
        self._user = [0] * n
        self._loans: dict[int, _Loan] = {}
        self._n_lendable = n - n_kept
        self._returned: collections.deque[_Loan] = collections.deque()

    def take(self, worker: int) -> int | None:
        """A free slot for the worker with this index, or None if there is none."""
        # the callback of a loan is deque.append, not Python code, in which an exception such as Ctrl-C would be lost
        while self._returned:
            slot = self._returned.popleft().slot
            del self._loans[slot]
            self.give_back(slot)
        for slots in (self._used[worker], max(self._used, key=len), self._new):
            if slots:
                slot = slots.pop()
                self._user[slot] = worker
                return slot
        return None

    def give_back(self, slot: int) -> None:
        """Marks the slot as free."""
        self._used[self._user[slot]].append(slot)

    def view(self, slot: int) -> memoryview:
        """A memoryview of the slot, valid until it is given back."""
        return self.block.view[slot * self._size : (slot + 1) * self._size]

    def lend(self, slot: int) -> memoryview | None:
        """A memoryview of the slot, which becomes free with the last reference to it; None if too many are lent."""
        if len(self._loans) >= self._n_lendable:
            return None
        room = self._kind.from_buffer(self.block.view, slot * self._size)
        loan = _Loan(room, self._returned.append)
        loan.slot = slot
        self._loans[slot] = loan  # a weakref's callback is called only if the weakref itself is alive
        return memoryview(room).cast("B")

    def close(self) -> None:
        """Releases the memory; lent views stay valid."""
        self.block.close()


class _Loan(weakref.ref):
    __slots__ = ("slot",)
    slot: int
