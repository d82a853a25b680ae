"""Batches read one example after another."""

from cvzoo.iterators.abstract import AbstractIterator
from cvzoo.iterators.fetch import fetch


class SerialIterator(AbstractIterator):
    """Batches of a data set, read when they are asked for, in this thread. See AbstractIterator for the arguments.

    Raises ExampleError, naming the photo, if an example cannot be read; the next call tries the same batch again.
    """

    def __init__(self, dataset, batch_size, repeat=True, shuffle=None, *, seed=None):
        super().__init__(dataset, batch_size, repeat, shuffle, seed)

    def _next_batch(self):
        ahead = self._cursor.copy()
        places = ahead.next_batch()
        if places is None:
            return None
        batch = [fetch(self.dataset, ahead.seed, epoch, index) for epoch, index in places]
        self._cursor = ahead
        return batch

    def _restart(self):
        """Nothing is read ahead."""

    def finalize(self):
        """There is nothing to end."""

    def __copy__(self):
        other = object.__new__(SerialIterator)
        other.__dict__.update(self.__dict__, _cursor=self._cursor.copy())
        return other
