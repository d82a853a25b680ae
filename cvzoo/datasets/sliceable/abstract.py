"""The interface of sliceable data sets, and the view that a slice returns."""

import abc
import builtins
from collections.abc import Iterator, Sequence
from typing import Any, SupportsIndex, overload

import numpy as np

from cvzoo.datasets.sliceable.selection import Rows, example_index, example_indices, key_indices
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array


class AbstractSliceableDataset(abc.ABC):
    """A data set whose examples are read lazily, each a tuple of named values.

    dataset[i]           example i: a tuple in the order of `keys`, or the value itself if `keys` is one str
    dataset[2:5]         a list of examples
    dataset.slice[:100, ("img", "bbox")]
                         a view of these examples and keys. Rows: a slice, integers or booleans. Keys: names, indices
                         or booleans; one name alone gives values instead of tuples. Only the values of the view's
                         keys are read: labels are returned without decoding an image

    A subclass implements `__len__`, `keys` and `get_example_by_keys`; most derive from GetterDataset instead.
    """

    @abc.abstractmethod
    def __len__(self) -> int:
        """The number of examples."""

    @property
    @abc.abstractmethod
    def keys(self) -> str | tuple[str, ...]:
        """The names of an example's values: a tuple of str, or one str if examples are single values."""

    @abc.abstractmethod
    def get_example_by_keys(self, index: int, key_indices: Sequence[int]) -> tuple[Any, ...]:
        """A tuple of the values of example `index`, a non-negative int, for the keys with the indices `key_indices`."""

    def name(self, index: int) -> str:
        """The name of example `index`, a non-negative int, in error messages, such as the path of its image."""
        return f"example {index}"

    def get_example(self, index: int) -> Any:
        """Example `index`, same as `dataset[index]`."""
        keys = self.keys
        if isinstance(keys, str):
            return self.get_example_by_keys(index, (0,))[0]
        return tuple(self.get_example_by_keys(index, tuple(range(len(keys)))))

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Any: ...
    @overload
    def __getitem__(self, index: builtins.slice | Sequence[int] | Array, /) -> list[Any]: ...
    def __getitem__(self, index: Any, /) -> Any:
        if isinstance(index, (slice, list, range)) or (isinstance(index, np.ndarray) and index.ndim):
            return [self.get_example(int(i)) for i in example_indices(index, len(self))]
        return self.get_example(example_index(index, len(self)))

    def __iter__(self) -> Iterator[Any]:
        return (self.get_example(i) for i in range(len(self)))

    @property
    def slice(self) -> "Slicer":
        """`dataset.slice[rows]` or `dataset.slice[rows, keys]` is a view, see the class."""
        return Slicer(self)


class Slicer:
    """The value of `dataset.slice`, whose subscription returns a view."""

    def __init__(self, dataset: AbstractSliceableDataset) -> None:
        self._dataset = dataset

    def __getitem__(self, selection: Any) -> "SlicedDataset":
        if isinstance(selection, tuple):
            if len(selection) > 2:
                raise ValueRangeError(
                    "a slice of a data set takes rows and keys only",
                    expected='slice[rows] or slice[rows, keys], such as slice[:100, ("img", "bbox")]',
                    got=counted(len(selection), "index", "indices"),
                )
            rows, keys = selection if len(selection) == 2 else (*selection, None)
        else:
            rows, keys = selection, None
        dataset = self._dataset
        names = dataset.keys
        is_single = isinstance(names, str)
        columns = tuple(range(1 if is_single else len(names)))
        if keys is not None:
            columns, is_single = key_indices(keys, (names,) if isinstance(names, str) else tuple(names))
        return SlicedDataset(dataset, example_indices(rows, len(dataset)), columns, is_single=is_single)


class SlicedDataset(AbstractSliceableDataset):
    """A view of some examples and some keys of a data set; a view of a view refers to the data set itself.

    indices: a range or (N,) int64, of the examples
    key_indices: a tuple of int, of the keys
    is_single: examples are single values, not tuples
    """

    def __init__(
        self, dataset: AbstractSliceableDataset, indices: Rows, key_indices: Sequence[int], *, is_single: bool
    ) -> None:
        if isinstance(dataset, SlicedDataset):
            indices = _compose(dataset._indices, indices)
            key_indices = tuple(dataset._key_indices[k] for k in key_indices)
            dataset = dataset._dataset
        self._dataset: AbstractSliceableDataset = dataset
        self._indices: Rows = indices
        self._key_indices: tuple[int, ...] = tuple(key_indices)
        self._is_single = is_single

    def __len__(self) -> int:
        return len(self._indices)

    @property
    def keys(self) -> str | tuple[str, ...]:
        names = self._dataset.keys
        names = (names,) if isinstance(names, str) else tuple(names)
        keys = tuple(names[k] for k in self._key_indices)
        return keys[0] if self._is_single else keys

    def get_example_by_keys(self, index: int, key_indices: Sequence[int]) -> tuple[Any, ...]:
        inner = tuple(self._key_indices[k] for k in key_indices)
        return self._dataset.get_example_by_keys(int(self._indices[index]), inner)

    def name(self, index: int) -> str:
        return self._dataset.name(int(self._indices[index]))


def _compose(outer: Rows, inner: Rows) -> Rows:
    if isinstance(outer, range) and isinstance(inner, range):
        start, step = outer.start, outer.step
        return range(start + step * inner.start, start + step * inner.stop, step * inner.step)
    return np.asarray(outer, dtype=np.int64)[np.asarray(inner, dtype=np.int64)]
