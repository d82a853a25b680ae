"""Aliasing analysis: which arrays share memory, and where they lie in it."""

import functools
import weakref
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cvzoo.backends.memory_views import Window, address_of, root_of


class Area(NamedTuple):
    """The memory of an array: owner, offset in bytes from the owner's first array, shape and strides."""

    owner: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str


class Roots:
    """Ids for the owners of memory, by identity; the owners are not kept alive."""

    def __init__(self) -> None:
        self.starts: list[int] = [0]  # by owner: the address of the first array that was located in its memory
        self._known: dict[int, tuple[Callable[[], object], int, int]] = {}

    def locate(self, array: np.ndarray) -> tuple[Area, Callable[[], object], int]:
        """The array's area, a weak reference to the owner of its memory, and its address."""
        if type(array) is np.ndarray:  # `root_of` inlined: this runs for thousands of arrays per capture
            root, base, address = array, array.base, array.__array_interface__["data"][0]
            while base is not None:
                root = base
                base = root.base if isinstance(root, np.ndarray | Window) else None
        else:
            root, address = root_of(array), address_of(array)
        known = self._known.get(id(root))
        if known is None or known[0]() is not root:
            try:
                reference: Callable[[], object] = weakref.ref(root)
            except TypeError:  # an object without weak references, such as bytes
                reference = functools.partial(_itself, root)
            known = self._known[id(root)] = (reference, len(self.starts), address)
            self.starts.append(address)
        reference, number, start = known
        return _area((number, address - start, array.shape, array.strides, array.dtype.str)), reference, address

    def area(self, array: np.ndarray) -> Area:
        """The array's area."""
        return self.locate(array)[0]


def _itself(root: object) -> object:
    return root


_area = functools.partial(tuple.__new__, Area)
