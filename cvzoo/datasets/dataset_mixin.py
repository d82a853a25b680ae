"""The base of data sets that say how one example is read; Chainer's interface."""

import abc
import operator
from typing import Any, SupportsIndex

import numpy as np

from cvzoo.errors.exceptions import ExampleIndexError
from cvzoo.typing.aliases import Array


class DatasetMixin(abc.ABC):
    """A data set whose class says `__len__` and `get_example(i)`; indexed by numbers, slices and lists of numbers.

    A data set whose values have names, and that can be cut without being read, is a `GetterDataset`.
    """

    @abc.abstractmethod
    def __len__(self) -> int:
        """The number of examples."""

    @abc.abstractmethod
    def get_example(self, i: int) -> Any:
        """Example i, 0 to len(self) - 1."""

    def __getitem__(self, index: SupportsIndex | slice | list[int] | Array) -> Any:
        """The example of that number, or a list of those of a slice or of several numbers.

        Raises ExampleIndexError if there is no such example.
        """
        if isinstance(index, slice):
            return [self.get_example(i) for i in range(*index.indices(len(self)))]
        if isinstance(index, list | np.ndarray):
            return [self[i] for i in index]
        i = operator.index(index)
        n = len(self)
        if not -n <= i < n:
            raise ExampleIndexError(f"there is no example {i}", expected=f"{-n} to {n - 1}")
        return self.get_example(i % n)
