"""The base class of data sets that read each key by a function of the index."""

from collections.abc import Callable, Sequence
from typing import Any

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.selection import key_indices
from cvzoo.errors.exceptions import ShapeError, ValueRangeError


class GetterDataset(AbstractSliceableDataset):
    """The base class of most data sets: a subclass implements `__len__` and adds a getter for each key.

    A getter may return the values of several keys, such as box and label from one file; it is called once per example,
    and only if one of its keys is requested. Getters should be methods or functions at the top of a module, so that the
    data set can be pickled for data-loading workers.
    """

    def __init__(self) -> None:
        self._getters: list[tuple[Callable[[int], Any], int | None]] = []  # (function, length of its tuple or None)
        self._sources: dict[str, tuple[int, int]] = {}  # key -> (index of the getter, index in its tuple)
        self._keys: str | tuple[str, ...] = ()
        self._namer: Callable[[int], object] | None = None

    def add_getter(self, keys: str | Sequence[str], getter: Callable[[int], Any]) -> None:
        """Adds a key (a str), read by `getter(i)`, or several (a tuple of str), for which it returns a tuple."""
        names = (keys,) if isinstance(keys, str) else tuple(keys)
        for position, name in enumerate(names):
            if not isinstance(name, str) or name in self._sources:
                raise ValueRangeError(
                    f"{type(self).__name__}: a key must be a str and not exist yet",
                    expected="a str",
                    got=repr(name)[:80],
                )
            self._sources[name] = len(self._getters), position
        self._getters.append((getter, None if isinstance(keys, str) else len(names)))
        if not isinstance(self._keys, str):
            self._keys = (*self._keys, *names)

    def name_examples(self, namer: Callable[[int], object]) -> None:
        """Sets the name of example i in error messages to `str(namer(i))`, such as its image's path."""
        self._namer = namer

    def name(self, index: int) -> str:
        return super().name(index) if self._namer is None else str(self._namer(index))

    @property
    def keys(self) -> str | tuple[str, ...]:
        return self._keys

    @keys.setter
    def keys(self, keys: str | Sequence[str]) -> None:
        names = tuple(self._sources)
        indices, is_single = key_indices(keys, names)
        self._keys = names[indices[0]] if is_single else tuple(names[k] for k in indices)

    def get_example_by_keys(self, index: int, key_indices: Sequence[int]) -> tuple[Any, ...]:
        names = (self._keys,) if isinstance(self._keys, str) else self._keys
        results: dict[int, Sequence[Any]] = {}
        values = []
        for k in key_indices:
            getter, position = self._sources[names[k]]
            if getter not in results:
                results[getter] = self._call(getter, index)
            values.append(results[getter][position])
        return tuple(values)

    def _call(self, number: int, index: int) -> Sequence[Any]:
        getter, count = self._getters[number]
        value = getter(index)
        if count is None:
            return (value,)
        if len(value) != count:
            raise ShapeError(
                f"{type(self).__name__}: a getter must return one value per key",
                expected=count,
                got=len(value),
            )
        return value
