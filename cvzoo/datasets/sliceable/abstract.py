"""The interface of sliceable data sets, and the view that a slice gives."""

import abc

import numpy as np

from cvzoo.datasets.sliceable.selection import example_index, example_indices, key_indices
from cvzoo.errors.exceptions import ValueRangeError


class AbstractSliceableDataset(abc.ABC):
    """Examples that are read when they are asked for, each a tuple of named values.

    dataset[i]           example i: a tuple in the order of `keys`, or the value itself if `keys` is one str
    dataset[2:5]         a list of examples
    dataset.slice[:100, ("img", "bbox")]
                         a view: these examples, these keys. Rows: a slice, integers or booleans. Keys: names, numbers
                         or booleans; one name alone gives values instead of tuples. Nothing is read until an example
                         is asked for, and then only what its keys need: labels come without a photo being decoded

    A class of its own says `__len__`, `keys` and `get_example_by_keys`; most use GetterDataset.
    """

    @abc.abstractmethod
    def __len__(self):
        """How many examples there are."""

    @property
    @abc.abstractmethod
    def keys(self):
        """The names of an example's values: a tuple of str, or one str if examples are no tuples."""

    @abc.abstractmethod
    def get_example_by_keys(self, index, key_indices):
        """A tuple of the values of example `index`, a non-negative int, that stand at `key_indices` among the keys."""

    def name(self, index):
        """What an error calls example `index`, a non-negative int; data sets of files say the photo's path."""
        return f"example {index}"

    def get_example(self, index):
        """Example `index`, as `dataset[index]`."""
        keys = self.keys
        if isinstance(keys, str):
            return self.get_example_by_keys(index, (0,))[0]
        return tuple(self.get_example_by_keys(index, tuple(range(len(keys)))))

    def __getitem__(self, index):
        if isinstance(index, (slice, list, range)) or (isinstance(index, np.ndarray) and index.ndim):
            return [self.get_example(int(i)) for i in example_indices(index, len(self))]
        return self.get_example(example_index(index, len(self)))

    def __iter__(self):
        return (self.get_example(i) for i in range(len(self)))

    @property
    def slice(self):
        """Takes brackets and gives a view, see the class."""
        return Slicer(self)


class Slicer:
    """What `dataset.slice` is: it waits for the brackets."""

    def __init__(self, dataset):
        self._dataset = dataset

    def __getitem__(self, chosen):
        if isinstance(chosen, tuple):
            if len(chosen) > 2:
                raise ValueRangeError(
                    "a slice takes rows and keys",
                    expected='slice[rows] or slice[rows, keys], such as slice[:100, ("img", "bbox")]',
                    got=f"{len(chosen)} things in the brackets",
                )
            rows, keys = (*chosen, None)[:2]
        else:
            rows, keys = chosen, None
        dataset = self._dataset
        names = dataset.keys
        is_single = isinstance(names, str)
        numbers = tuple(range(1 if is_single else len(names)))
        if keys is not None:
            numbers, is_single = key_indices(keys, (names,) if is_single else tuple(names))
        return SlicedDataset(dataset, example_indices(rows, len(dataset)), numbers, is_single=is_single)


class SlicedDataset(AbstractSliceableDataset):
    """A view of some examples and some keys of a data set; a view of a view looks at the data set itself.

    indices: a range or (N,) int64, the examples
    key_indices: a tuple of int, the keys
    is_single: examples are values, not tuples
    """

    def __init__(self, dataset, indices, key_indices, *, is_single):
        if isinstance(dataset, SlicedDataset):
            indices = _compose(dataset._indices, indices)
            key_indices = tuple(dataset._key_indices[k] for k in key_indices)
            dataset = dataset._dataset
        self._dataset = dataset
        self._indices = indices
        self._key_indices = key_indices
        self._is_single = is_single

    def __len__(self):
        return len(self._indices)

    @property
    def keys(self):
        names = self._dataset.keys
        names = (names,) if isinstance(names, str) else tuple(names)
        chosen = tuple(names[k] for k in self._key_indices)
        return chosen[0] if self._is_single else chosen

    def get_example_by_keys(self, index, key_indices):
        wanted = tuple(self._key_indices[k] for k in key_indices)
        return self._dataset.get_example_by_keys(int(self._indices[index]), wanted)

    def name(self, index):
        return self._dataset.name(int(self._indices[index]))


def _compose(outer, inner):
    if isinstance(outer, range) and isinstance(inner, range):
        start, step = outer.start, outer.step
        return range(start + step * inner.start, start + step * inner.stop, step * inner.step)
    return np.asarray(outer, dtype=np.int64)[np.asarray(inner, dtype=np.int64)]
