"""A data set that applies a function to each example of another."""

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.sequence_dataset import as_sliceable, peek_keys
from cvzoo.errors.exceptions import DtypeError, ExampleError, ShapeError
from cvzoo.reporting.counted import counted
from cvzoo.typing.protocols import IndexableDataset


class TransformDataset(AbstractSliceableDataset):
    """Applies `transform` to each example of a data set.

    TransformDataset(dataset, keys, transform): keys are the names of the values that transform returns: a tuple of str,
        or one str if it returns a single value
    TransformDataset(dataset, transform): the data set's own keys if transform returns as many values, otherwise
        "value_0", "value_1" ...; the first example is transformed to find out, when the keys are first requested

    Each access transforms a whole example, whichever keys are requested, and transform gets the whole example, whatever
    `keys` are: pass `dataset.slice[:, ("img", "label")]` to read and transform these values only. If it raises,
    ExampleError names the transform, the example and its keys.
    A random transform draws from `cvzoo.config`'s generator, which iterators seed for every example.
    """

    def __init__(
        self,
        dataset: IndexableDataset[Any],
        keys: str | Sequence[str] | Callable[[Any], Any] | None,
        transform: Callable[[Any], Any] | None = None,
    ) -> None:
        names: Any = keys
        if transform is None:
            names, transform = None, names
        if not callable(transform):
            raise DtypeError("TransformDataset: the transform must be callable", got=repr(transform)[:80])
        self._dataset = as_sliceable(dataset)
        self._keys: str | tuple[str, ...] | None = names if names is None or isinstance(names, str) else tuple(names)
        self._transform = transform

    def __len__(self) -> int:
        return len(self._dataset)

    @property
    def keys(self) -> str | tuple[str, ...]:
        if self._keys is None:
            if len(self) == 0:
                return self._dataset.keys
            default = peek_keys(lambda: self._transformed(0))
            own = self._dataset.keys
            same = isinstance(default, str) == isinstance(own, str) and len(default) == len(own)
            self._keys = own if same or (isinstance(default, str) and isinstance(own, str)) else default
        return self._keys

    def get_example_by_keys(self, index: int, key_indices: Sequence[int]) -> tuple[Any, ...]:
        keys = self.keys
        example = self._transformed(index)
        if isinstance(keys, str):
            return tuple(example for _ in key_indices)
        if not isinstance(example, tuple) or len(example) != len(keys):
            raise ShapeError(
                "TransformDataset: the transform must return one value per key",
                expected=f"a tuple of {', '.join(keys)}",
                got=counted(len(example), "value") if isinstance(example, tuple) else type(example).__name__,
            )
        return tuple(example[k] for k in key_indices)

    def _transformed(self, index: int) -> Any:
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

    def name(self, index: int) -> str:
        return self._dataset.name(index)


def _name_of(transform: Callable[..., object]) -> str:
    if isinstance(transform, functools.partial):
        return _name_of(transform.func)
    is_function = isinstance(transform, types.FunctionType | types.BuiltinFunctionType | types.MethodType | type)
    return transform.__qualname__ if is_function else type(transform).__name__
