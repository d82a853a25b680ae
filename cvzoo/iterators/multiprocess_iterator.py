"""Batches read by other processes, ahead of their use."""

import collections
import multiprocessing
import os
import weakref

from cvzoo.errors.exceptions import ExampleError, ValueRangeError
from cvzoo.iterators.abstract import AbstractIterator
from cvzoo.iterators.worker_pool import WorkerPool

_SLOT_SIZE = 16 << 20  # a photo of 1080 x 1280 in float32
_IN_USE = 2  # batches that a caller holds: the one it works on, and the one before until the new one has its name


class MultiprocessIterator(AbstractIterator):
    """Batches of a data set, read ahead by worker processes. See AbstractIterator for the other arguments.

    n_processes: how many; None: as many as processors this process may use
    n_prefetch: how many batches are read ahead; None: one, or as many as give each process two examples
    shared_mem: bytes of shared memory an example, which are taken only as far as they are used; None: 16 MiB. The
        arrays of larger examples go through pipes, which is slower and nothing else
    start_method: "forkserver" or "spawn": workers start from nothing, which is safe with every library, and the data
        set must be picklable; "fork": they start as copies of this process, which is quick, but a library that had
        threads running may hang in them; None: "forkserver" where there is one
    timeout: seconds to wait for the next example; None: without end

    Arrays of 32 KiB and more are not copied: they lie in the memory that the workers share, each until nobody has it
    any more, also after `finalize`. Who keeps more than two batches of them is given copies from then on.
    Each example is read with one thread a library. As everywhere with spawned processes, a program's main part must
    stand below `if __name__ == "__main__":`.
    Raises ExampleError, naming the photo, if an example cannot be read (its cause is the worker's error, whose
    traceback is in the text) or a worker died; the next call tries the same batch again. DtypeError if the data set
    cannot be sent to another process.
    """

    def __init__(
        self,
        dataset,
        batch_size,
        repeat=True,
        shuffle=None,
        n_processes=None,
        n_prefetch=None,
        shared_mem=None,
        *,
        seed=None,
        start_method=None,
        timeout=None,
    ):
        super().__init__(dataset, batch_size, repeat, shuffle, seed)
        methods = multiprocessing.get_all_start_methods()
        if start_method is None:
            start_method = "forkserver" if "forkserver" in methods else "spawn"
        if start_method not in methods:
            raise ValueRangeError("there is no such start_method", expected=" or ".join(methods), got=start_method)
        if n_processes is None:
            n_processes = len(os.sched_getaffinity(0))
        if n_processes < 1 or (n_prefetch is not None and n_prefetch < 0):
            raise ValueRangeError(
                "n_processes must be positive, n_prefetch not negative", got=(n_processes, n_prefetch)
            )
        if n_prefetch is None:
            n_prefetch = -(-2 * n_processes // self.batch_size)
        shared_mem = _SLOT_SIZE if shared_mem is None else -(-shared_mem // 64) * 64
        self._n_processes = n_processes
        self._n_prefetch = n_prefetch
        self._shared_mem = shared_mem
        self._start_method = start_method
        self._timeout = timeout
        self._pool = None
        self._closing = None
        self._ahead = None
        self._waiting = collections.deque()  # (tickets of a batch, the cursor after it)

    def _next_batch(self):
        try:
            self._fill()
            if not self._waiting:
                return None
            tickets, cursor = self._waiting[0]
            batch = self._pool.collect(tickets, timeout=self._timeout)
            self._waiting.popleft()
            self._read_on()
        except BaseException:
            # whatever happened, Ctrl-C included: nothing is on its way any more, nothing stays behind, and the next
            # call gives this batch
            self.finalize()
            raise
        self._cursor = cursor
        return batch

    def _read_on(self):
        try:
            self._fill()
        except ExampleError:
            self.finalize()  # the next call meets the same trouble, and says so

    def _fill(self):
        if self._ahead is None:
            self._ahead = self._cursor.copy()
        while len(self._waiting) <= self._n_prefetch:
            places = self._ahead.next_batch()
            if places is None:
                return
            if self._pool is None:
                self._start()
            tickets = [self._pool.submit(self._ahead.seed, epoch, index) for epoch, index in places]
            self._waiting.append((tickets, self._ahead.copy()))

    def _start(self):
        self._pool = WorkerPool(
            self.dataset,
            n_process=self._n_processes,
            start_method=self._start_method,
            n_ahead=self.batch_size * (self._n_prefetch + 1 + _IN_USE),
            slot_size=self._shared_mem,
        )
        self._closing = weakref.finalize(self, self._pool.close)

    def _restart(self):
        if self._pool is not None:
            for tickets, _ in self._waiting:
                self._pool.discard(tickets)
        self._waiting.clear()
        self._ahead = None

    def finalize(self):
        """End the worker processes; reading on starts new ones."""
        self._waiting.clear()
        self._ahead = None
        if self._pool is not None:
            self._pool = None
            self._closing()

    def __copy__(self):
        other = MultiprocessIterator(
            self.dataset,
            self.batch_size,
            self.repeat,
            self._cursor.shuffle,
            self._n_processes,
            self._n_prefetch,
            self._shared_mem,
            seed=self.seed,
            start_method=self._start_method,
            timeout=self._timeout,
        )
        other.load_state(self.state())
        return other
