"""Batches read by threads, ahead of their use."""

import collections
import concurrent.futures

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.iterators.abstract import AbstractIterator
from cvzoo.iterators.fetch import fetch


class MultithreadIterator(AbstractIterator):
    """Batches of a data set, read ahead by threads of this process. See AbstractIterator for the other arguments.

    n_threads: how many examples are read at once
    n_prefetch: how many batches are read ahead

    Decoding photos and most of NumPy let other threads run meanwhile; transforms written in Python do not: see
    MultiprocessIterator. The data set must bear being read by several threads.
    Raises ExampleError, naming the photo, if an example cannot be read; the next call tries the same batch again.
    """

    def __init__(self, dataset, batch_size, repeat=True, shuffle=None, n_threads=1, *, n_prefetch=1, seed=None):
        super().__init__(dataset, batch_size, repeat, shuffle, seed)
        if n_threads < 1 or n_prefetch < 0:
            raise ValueRangeError("n_threads must be positive, n_prefetch not negative", got=(n_threads, n_prefetch))
        self._n_threads = n_threads
        self._n_prefetch = n_prefetch
        self._pool = None
        self._ahead = None
        self._waiting = collections.deque()  # (futures of a batch, the cursor after it)

    def _next_batch(self):
        self._fill()
        if not self._waiting:
            return None
        futures, cursor = self._waiting[0]
        try:
            batch = [future.result() for future in futures]
        except BaseException:
            self._restart()
            raise
        self._waiting.popleft()
        self._cursor = cursor
        self._fill()
        return batch

    def _fill(self):
        if self._pool is None:
            self._pool = concurrent.futures.ThreadPoolExecutor(self._n_threads, thread_name_prefix="cvzoo-iterator")
        if self._ahead is None:
            self._ahead = self._cursor.copy()
        while len(self._waiting) <= self._n_prefetch:
            places = self._ahead.next_batch()
            if places is None:
                return
            seed = self._ahead.seed
            futures = [self._pool.submit(fetch, self.dataset, seed, epoch, index) for epoch, index in places]
            self._waiting.append((futures, self._ahead.copy()))

    def _restart(self):
        for futures, _ in self._waiting:
            for future in futures:
                future.cancel()
        self._waiting.clear()
        self._ahead = None

    def finalize(self):
        """End the threads, after the examples they are at; reading on starts new ones."""
        self._restart()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def __copy__(self):
        other = MultithreadIterator(
            self.dataset,
            self.batch_size,
            self.repeat,
            self._cursor.shuffle,
            self._n_threads,
            n_prefetch=self._n_prefetch,
            seed=self.seed,
        )
        other.load_state(self.state())
        return other
