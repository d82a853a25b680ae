"""Places for examples in shared memory: written by a worker, lent to whoever uses the example, written again."""

import collections
import ctypes
import weakref

from cvzoo.iterators.shared_block import SharedBlock


class SharedSlots:
    """`n` slots of `size` bytes for `n_worker` workers.

    n_kept: how many slots are never lent, so that work goes on when somebody keeps all that was lent
    block: the memory, for the workers; slot i begins at i * size

    A slot is free, or a worker's (from `take` to `give_back` or `lend`), or lent: until nothing is left that looks
    into it.
    """

    def __init__(self, n, size, *, n_worker, n_kept):
        self.block = SharedBlock(n * size)
        self._kind = ctypes.c_char * size
        self._size = size
        # pages cost most when a process meets them first: a worker gets a slot that it had, or else one that another
        # had, and a new one last
        self._new = list(range(n))[::-1]
        self._used = [[] for _ in range(n_worker)]
        self._user = [0] * n
        self._loans = {}
        self._n_lendable = n - n_kept
        self._returned = collections.deque()

    def take(self, worker):
        """A slot for the worker of this number, or None if there is none."""
        # the callback of a loan is deque.append and nothing in Python: an exception such as Ctrl-C would be lost in it
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

    def give_back(self, slot):
        """The slot is free again."""
        self._used[self._user[slot]].append(slot)

    def view(self, slot):
        """A memoryview of the slot, to be used before it is given back."""
        return self.block.view[slot * self._size : (slot + 1) * self._size]

    def lend(self, slot):
        """A memoryview of the slot, which is free again with the last that looks into it; None if too many are lent."""
        if len(self._loans) >= self._n_lendable:
            return None
        room = self._kind.from_buffer(self.block.view, slot * self._size)
        loan = _Loan(room, self._returned.append)
        loan.slot = slot
        self._loans[slot] = loan
        return memoryview(room).cast("B")

    def close(self):
        """Let go of the memory; what is lent stays valid."""
        self.block.close()


class _Loan(weakref.ref):
    __slots__ = ("slot",)
