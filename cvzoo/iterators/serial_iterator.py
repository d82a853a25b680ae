"""An iterator without workers: each batch is read when it is requested."""

from cvzoo.iterators.abstract import AbstractIterator, Example
from cvzoo.iterators.fetch import fetch
from cvzoo.iterators.order_samplers import Sampler
from cvzoo.typing.protocols import IndexableDataset


class SerialIterator(AbstractIterator[Example]):
    """Iterates over a data set in batches, read when requested, in this thread. Arguments: see AbstractIterator.

    Raises ExampleError, naming the image, if an example cannot be read; the next call retries the same batch.
    """

    def __init__(
        self,
        dataset: IndexableDataset[Example],
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        order_sampler: Sampler | None = None,
        *,
        seed: int | None = None,
    ) -> None:
        super().__init__(dataset, batch_size, repeat, shuffle, seed, order_sampler)

    def _next_batch(self) -> list[Example] | None:
        # a copy, so that an example that cannot be read leaves the position where it was
        ahead = self._cursor.copy()
        tasks = ahead.next_batch()
        if tasks is None:
            return None
        batch = [fetch(self.dataset, task) for task in tasks]
        self._cursor = ahead
        return batch

    def _restart(self) -> None:
        """Does nothing: there are no prefetched examples."""

    def finalize(self) -> None:
        """Does nothing: there are no workers."""

    def __copy__(self) -> "SerialIterator[Example]":
        other: SerialIterator[Example] = object.__new__(SerialIterator)
        vars(other).update(self.__dict__, _cursor=self._cursor.copy())
        return other
