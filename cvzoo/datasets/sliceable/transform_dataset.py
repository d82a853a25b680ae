"""A data set whose examples pass through a function."""

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.sequence_dataset import as_sliceable, peek_keys
from cvzoo.errors.exceptions import DtypeError, ShapeError


class TransformDataset(AbstractSliceableDataset):
    """`transform(example)` for each example of a data set.

    TransformDataset(dataset, keys, transform): keys are the names of what transform returns: a tuple of str, or one str
        if it returns a value that is no tuple
    TransformDataset(dataset, transform): the names are the data set's own if as many values come back, else "value_0"
        and so on; the first example is transformed once to see it, when the names are first asked for

    Each access transforms a whole example, whichever keys are wanted: cut keys before, not after, where that matters.
    A random transform draws from `cvzoo.config`'s generator, which iterators set anew for every example.
    """

    def __init__(self, dataset, keys, transform=None):
        if transform is None:
            keys, transform = None, keys
        if not callable(transform):
            raise DtypeError("TransformDataset: the transform must be a function", got=repr(transform)[:80])
        self._dataset = as_sliceable(dataset)
        self._keys = keys if keys is None or isinstance(keys, str) else tuple(keys)
        self._transform = transform

    def __len__(self):
        return len(self._dataset)

    @property
    def keys(self):
        if self._keys is None:
            if len(self) == 0:
                return self._dataset.keys
            found = peek_keys(lambda: self._transform(self._dataset.get_example(0)))
            before = self._dataset.keys
            same = isinstance(found, str) == isinstance(before, str) and len(found) == len(before)
            self._keys = before if same or (isinstance(found, str) and isinstance(before, str)) else found
        return self._keys

    def get_example_by_keys(self, index, key_indices):
        keys = self.keys
        example = self._transform(self._dataset.get_example(index))
        if isinstance(keys, str):
            return tuple(example for _ in key_indices)
        if not isinstance(example, tuple) or len(example) != len(keys):
            raise ShapeError(
                "TransformDataset: the transform must return one value a key",
                expected=f"a tuple of {', '.join(keys)}",
                got=f"{len(example)} values" if isinstance(example, tuple) else type(example).__name__,
            )
        return tuple(example[k] for k in key_indices)

    def name(self, index):
        return self._dataset.name(index)
