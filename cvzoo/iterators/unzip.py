"""An iterator of tuples as a tuple of iterators."""

import collections
import weakref


def unzip(iterable):
    """A tuple of iterators: the first gives the first values of the tuples, and so on.

    Tuples are taken from the iterable only as far as one of the iterators asks; what others have not asked for yet
    waits for them, and is not kept for iterators that nobody holds any more. Of an empty iterable, an empty tuple.
    """
    iterator = iter(iterable)
    first = next(iterator, None)
    if first is None:
        return ()
    source = _Source(iterator)
    columns = tuple(_Column(source, value) for value in first)
    source.columns = [weakref.ref(column) for column in columns]
    return columns


class _Source:
    def __init__(self, iterator):
        self._iterator = iterator
        self.columns = []

    def advance(self):
        values = next(self._iterator)
        for column, value in zip(self.columns, values):
            living = column()
            if living is not None:
                living.waiting.append(value)


class _Column:
    def __init__(self, source, value):
        self._source = source
        self.waiting = collections.deque([value])

    def __iter__(self):
        return self

    def __next__(self):
        if not self.waiting:
            self._source.advance()
        return self.waiting.popleft()
