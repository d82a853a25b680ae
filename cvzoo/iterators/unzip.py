"""Turns an iterator of tuples into a tuple of iterators."""

import collections
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any


def unzip(iterable: Iterable[Sequence[Any]]) -> tuple[Iterator[Any], ...]:
    """A tuple of iterators: the first yields the first value of each tuple, and so on.

    Evaluation is lazy: a tuple is consumed when the first of the iterators needs it, and its other values are buffered
    for those iterators that still exist. Returns an empty tuple for an empty iterable.
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
    def __init__(self, iterator: Iterator[Sequence[Any]]) -> None:
        self._iterator = iterator
        self.columns: list[weakref.ref[_Column]] = []

    def advance(self) -> None:
        values = next(self._iterator)
        for column, value in zip(self.columns, values):
            alive = column()
            if alive is not None:
                alive.buffer.append(value)


class _Column:
    def __init__(self, source: _Source, value: Any) -> None:
        self._source = source
        self.buffer = collections.deque([value])

    def __iter__(self) -> "_Column":
        return self

    def __next__(self) -> Any:
        if not self.buffer:
            self._source.advance()
        return self.buffer.popleft()
