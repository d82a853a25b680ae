"""An iterator whose batches are prefetched by worker processes."""

import collections
import multiprocessing
import os
import weakref

from cvzoo.errors.exceptions import ExampleError, ValueRangeError
from cvzoo.iterators.abstract import AbstractIterator, Example
from cvzoo.iterators.cursor import Cursor
from cvzoo.iterators.order_samplers import Sampler
from cvzoo.iterators.worker_pool import WorkerPool
from cvzoo.typing.protocols import IndexableDataset

_SLOT_SIZE = 16 << 20  # an image of 1080 x 1280 in float32
_IN_USE = 2  # batches that a caller holds: `batch = next(it)` frees the previous one only after the new one was read


class MultiprocessIterator(AbstractIterator[Example]):
    """Iterates over a data set in batches that worker processes prefetch. Other arguments: see AbstractIterator.

    n_processes: number of data-loading workers; None: the CPU cores available to this process
    n_prefetch: prefetched batches; None: one, or more if needed to give each worker two examples
    shared_mem: bytes of shared memory per example, allocated as far as they are used; None: 16 MiB. The arrays of
        larger examples are sent through pipes, which is slower
    start_method: "forkserver" or "spawn": workers start as new processes, which is safe with every library, but the
        data set must be picklable; "fork": they start as copies of this process, which is fast, but libraries that had
        threads running may hang; None: "forkserver" where available
    timeout: seconds to wait for the next example; None: no limit

    Arrays of 32 KiB or more are not copied but views of shared memory, valid as long as they are referenced, even after
    `finalize`. From more than two retained batches on, arrays are copied.
    Workers use one thread per library. As always with spawned processes, the main part of a program must be guarded by
    `if __name__ == "__main__":`.
    Raises ExampleError, naming the image, if an example cannot be read (its cause is the worker's error, its text has
    the worker's traceback) or a worker died; the next call retries the same batch. DtypeError if the data set cannot be
    pickled.
    """

    def __init__(
        self,
        dataset: IndexableDataset[Example],
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        n_processes: int | None = None,
        n_prefetch: int | None = None,
        shared_mem: int | None = None,
        order_sampler: Sampler | None = None,
        *,
        seed: int | None = None,
        start_method: str | None = None,
        timeout: float | None = None,
    ) -> None:
        super().__init__(dataset, batch_size, repeat, shuffle, seed, order_sampler)
        methods = multiprocessing.get_all_start_methods()
        if start_method is None:
            start_method = "forkserver" if "forkserver" in methods else "spawn"
        if start_method not in methods:
            raise ValueRangeError(
                f"unknown start_method {start_method!r}", expected=" or ".join(methods), got=start_method
            )
        if n_processes is None:
            n_processes = len(os.sched_getaffinity(0))
        if n_processes < 1 or (n_prefetch is not None and n_prefetch < 0):
            raise ValueRangeError(
                "n_processes must be positive and n_prefetch non-negative", got=(n_processes, n_prefetch)
            )
        if n_prefetch is None:
            n_prefetch = -(-2 * n_processes // self.batch_size)
        shared_mem = _SLOT_SIZE if shared_mem is None else -(-shared_mem // 64) * 64
        self._n_processes = n_processes
        self._n_prefetch = n_prefetch
        self._shared_mem = shared_mem
        self._start_method = start_method
        self._timeout = timeout
        self._pool: WorkerPool | None = None
        self._closing: weakref.finalize | None = None
        self._ahead: Cursor | None = None
        self._waiting: collections.deque[tuple[list[int], Cursor]] = collections.deque()  # (tickets, cursor after them)

    def _next_batch(self) -> list[Example] | None:
        try:
            self._fill()
            if not self._waiting or self._pool is None:
                return None
            tickets, cursor = self._waiting[0]
            batch = self._pool.collect(tickets, timeout=self._timeout)
            self._waiting.popleft()
            self._prefetch()
        except BaseException:
            # after any error, Ctrl-C included, no task is pending and no process left; the next call retries this batch
            self.finalize()
            raise
        self._cursor = cursor
        return batch

    def _prefetch(self) -> None:
        try:
            self._fill()
        except ExampleError:
            self.finalize()  # the batch in hand is complete; the next call raises the error

    def _fill(self) -> None:
        if self._ahead is None:
            self._ahead = self._cursor.copy()
        while len(self._waiting) <= self._n_prefetch:
            tasks = self._ahead.next_batch()
            if tasks is None:
                return
            pool = self._pool or self._start()
            tickets = [pool.submit(task) for task in tasks]
            # the cursor after the batch becomes the iterator's position when the batch is handed out, so that a saved
            # state never counts prefetched batches
            self._waiting.append((tickets, self._ahead.copy()))

    def _start(self) -> WorkerPool:
        self._pool = WorkerPool(
            self.dataset,
            n_process=self._n_processes,
            start_method=self._start_method,
            n_ahead=self.batch_size * (self._n_prefetch + 1 + _IN_USE),
            slot_size=self._shared_mem,
        )
        # of the pool, not of self: a bound method of self would keep the iterator alive
        self._closing = weakref.finalize(self, self._pool.close)
        return self._pool

    def _restart(self) -> None:
        if self._pool is not None:
            for tickets, _ in self._waiting:
                self._pool.discard(tickets)
        self._waiting.clear()
        self._ahead = None

    def finalize(self) -> None:
        """Stops the worker processes; the next batch starts new ones."""
        self._waiting.clear()
        self._ahead = None
        self._pool = None
        if self._closing is not None:
            closing, self._closing = self._closing, None
            closing()

    def __copy__(self) -> "MultiprocessIterator[Example]":
        other = MultiprocessIterator(
            self.dataset,
            self.batch_size,
            self.repeat,
            self._cursor.given_shuffle,
            self._n_processes,
            self._n_prefetch,
            self._shared_mem,
            order_sampler=self._cursor.order_sampler,
            seed=self.seed,
            start_method=self._start_method,
            timeout=self._timeout,
        )
        other._cursor = self._cursor.copy()
        return other
