"""A data set whose values come from functions of the index."""

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.selection import key_indices
from cvzoo.errors.exceptions import ShapeError, ValueRangeError


class GetterDataset(AbstractSliceableDataset):
    """The base of data sets that are read from files: a class says `__len__` and adds a getter for each key.

    A getter may serve several keys, as when photo and label come from one file; it is called once an example, and only
    if one of its keys is wanted. Getters should be methods, or functions at the top of a module, so that the data set
    can be sent to other processes.
    """

    def __init__(self):
        self._getters = []  # (function, number of values or None if it returns one value bare)
        self._sources = {}  # key -> (getter, place in what it returns)
        self._keys = ()
        self._namer = None

    def add_getter(self, keys, getter):
        """Let `getter(i)` give the value of a key (a str), or a tuple of the values of several (a tuple of str)."""
        names = (keys,) if isinstance(keys, str) else tuple(keys)
        for place, name in enumerate(names):
            if not isinstance(name, str) or name in self._sources:
                raise ValueRangeError(
                    f"{type(self).__name__}: a key must be a new name", expected="a str", got=repr(name)[:80]
                )
            self._sources[name] = len(self._getters), place
        self._getters.append((getter, None if isinstance(keys, str) else len(names)))
        if not isinstance(self._keys, str):
            self._keys = (*self._keys, *names)

    def name_examples(self, namer):
        """Let errors call example i by `str(namer(i))`, such as its photo's path."""
        self._namer = namer

    def name(self, index):
        return super().name(index) if self._namer is None else str(self._namer(index))

    @property
    def keys(self):
        return self._keys

    @keys.setter
    def keys(self, keys):
        names = tuple(self._sources)
        numbers, is_single = key_indices(keys, names)
        self._keys = names[numbers[0]] if is_single else tuple(names[k] for k in numbers)

    def get_example_by_keys(self, index, key_indices):
        names = (self._keys,) if isinstance(self._keys, str) else self._keys
        known = {}
        values = []
        for k in key_indices:
            number, place = self._sources[names[k]]
            if number not in known:
                known[number] = self._call(number, index)
            values.append(known[number][place])
        return tuple(values)

    def _call(self, number, index):
        getter, count = self._getters[number]
        value = getter(index)
        if count is None:
            return (value,)
        if len(value) != count:
            raise ShapeError(
                f"{type(self).__name__}: a getter gives not as many values as it has keys",
                expected=count,
                got=len(value),
            )
        return value
