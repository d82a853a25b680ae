"""An iterator whose batches are prefetched by threads."""

import collections
import concurrent.futures

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.iterators.abstract import AbstractIterator, Example
from cvzoo.iterators.cursor import Cursor
from cvzoo.iterators.fetch import fetch
from cvzoo.iterators.order_samplers import Sampler
from cvzoo.typing.protocols import IndexableDataset


class MultithreadIterator(AbstractIterator[Example]):
    """Iterates over a data set in batches that threads of this process prefetch. Other arguments: see AbstractIterator.

    n_threads: examples read concurrently
    n_prefetch: prefetched batches

    Decoding images and most of NumPy release the GIL; transforms written in Python do not: see MultiprocessIterator.
    The data set must be thread-safe.
    Raises ExampleError, naming the image, if an example cannot be read; the next call retries the same batch.
    """

    def __init__(
        self,
        dataset: IndexableDataset[Example],
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        n_threads: int = 1,
        order_sampler: Sampler | None = None,
        *,
        n_prefetch: int = 1,
        seed: int | None = None,
    ) -> None:
        super().__init__(dataset, batch_size, repeat, shuffle, seed, order_sampler)
        if n_threads < 1 or n_prefetch < 0:
            raise ValueRangeError("n_threads must be positive and n_prefetch non-negative", got=(n_threads, n_prefetch))
        self._n_threads = n_threads
        self._n_prefetch = n_prefetch
        self._pool: concurrent.futures.ThreadPoolExecutor | None = None
        self._ahead: Cursor | None = None
        # (futures of a batch, the cursor after it)
        self._waiting: collections.deque[tuple[list[concurrent.futures.Future[Example]], Cursor]] = collections.deque()

    def _next_batch(self) -> list[Example] | None:
        self._fill()
        if not self._waiting:
            return None
        futures, cursor = self._waiting[0]
        try:
            batch = [future.result() for future in futures]
        except BaseException:
            # futures after the failed one belong to an order that the next call begins anew
            self._restart()
            raise
        self._waiting.popleft()
        self._cursor = cursor
        self._fill()
        return batch

    def _fill(self) -> None:
        if self._pool is None:
            self._pool = concurrent.futures.ThreadPoolExecutor(self._n_threads, thread_name_prefix="cvzoo-iterator")
        if self._ahead is None:
            self._ahead = self._cursor.copy()
        while len(self._waiting) <= self._n_prefetch:
            tasks = self._ahead.next_batch()
            if tasks is None:
                return
            futures = [self._pool.submit(fetch, self.dataset, task) for task in tasks]
            self._waiting.append((futures, self._ahead.copy()))

    def _restart(self) -> None:
        for futures, _ in self._waiting:
            for future in futures:
                future.cancel()
        self._waiting.clear()
        self._ahead = None

    def finalize(self) -> None:
        """Stops the threads after their current examples; the next batch starts new ones."""
        self._restart()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def __copy__(self) -> "MultithreadIterator[Example]":
        other = MultithreadIterator(
            self.dataset,
            self.batch_size,
            self.repeat,
            self._cursor.given_shuffle,
            self._n_threads,
            n_prefetch=self._n_prefetch,
            order_sampler=self._cursor.order_sampler,
            seed=self.seed,
        )
        other._cursor = self._cursor.copy()
        return other
