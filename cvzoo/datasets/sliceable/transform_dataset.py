"""A data set whose examples pass through a function."""

import functools
import types

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.sequence_dataset import as_sliceable, peek_keys
from cvzoo.errors.exceptions import DtypeError, ExampleError, ShapeError


class TransformDataset(AbstractSliceableDataset):
    """`transform(example)` for each example of a data set.

    TransformDataset(dataset, keys, transform): keys are the names of what transform returns: a tuple of str, or one str
        if it returns a value that is no tuple
    TransformDataset(dataset, transform): the names are the data set's own if as many values come back, else "value_0"
        and so on; the first example is transformed once to see it, when the names are first asked for

    Each access transforms a whole example, whichever keys are wanted: cut keys before, not after, where that matters.
    The transform is given the whole example, whatever `keys` are: `dataset.slice[:, ("img", "label")]` is a data set of
    these values alone. Where it raises, ExampleError names the transform, the example and its values.
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
            found = peek_keys(lambda: self._transformed(0))
            before = self._dataset.keys
            same = isinstance(found, str) == isinstance(before, str) and len(found) == len(before)
            self._keys = before if same or (isinstance(found, str) and isinstance(before, str)) else found
        return self._keys

    def get_example_by_keys(self, index, key_indices):
        keys = self.keys
        example = self._transformed(index)
        if isinstance(keys, str):
            return tuple(example for _ in key_indices)
        if not isinstance(example, tuple) or len(example) != len(keys):
            raise ShapeError(
                "TransformDataset: the transform must return one value a key",
                expected=f"a tuple of {', '.join(keys)}",
                got=f"{len(example)} values" if isinstance(example, tuple) else type(example).__name__,
            )
        return tuple(example[k] for k in key_indices)

    def _transformed(self, index):
        example = self._dataset.get_example(index)
        try:
            return self._transform(example)
        except Exception as error:
            keys, where, name = self._dataset.keys, f"example {index}", self.name(index)
            where += "" if name == where else f" ({name})"
            raise ExampleError(
                f"the transform {_name_of(self._transform)} failed on {where}: {type(error).__name__}: {error}",
                got=f"an example of {keys if isinstance(keys, str) else ', '.join(keys)}",
            ) from error

    def name(self, index):
        return self._dataset.name(index)


def _name_of(transform):
    if isinstance(transform, functools.partial):
        return _name_of(transform.func)
    is_function = isinstance(transform, types.FunctionType | types.BuiltinFunctionType | types.MethodType | type)
    return transform.__qualname__ if is_function else type(transform).__name__
