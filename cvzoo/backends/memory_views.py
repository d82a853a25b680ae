"""The memory of arrays of any device: its owner, its address, and views of it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cvzoo.backends.arrays import device_address, is_device_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.typing.aliases import Array


class Window:
    """The base of a view made by `view_at`."""

    __slots__ = ("__array_interface__", "__weakref__", "base")

    def __init__(self, base: Any, interface: dict[str, Any]):
        self.base = base
        self.__array_interface__ = interface


def address_of(array: Array) -> int:
    """The address of the first element."""
    return device_address(array) if is_device_array(array) else array.__array_interface__["data"][0]


def root_of(array: Array) -> Array | Any:
    """The object that owns the memory: an array or another buffer."""
    if is_device_array(array):
        return array if array.base is None else array.base
    while isinstance(array, np.ndarray | Window):
        if array.base is None:
            return array
        array = array.base
    return array


def view_at(base: Any, address: int, shape: Sequence[int], strides: Sequence[int], dtype: npt.DTypeLike) -> Array:
    """A view of the memory at `address`, kept alive by `base`."""
    if is_device_array(base):
        memory: Any = base.data  # not NumPy's memoryview but a pointer
        return backend_of(base).xp.ndarray(tuple(shape), dtype, memory + (address - memory.ptr), tuple(strides))
    interface = {
        "version": 3,
        "data": (address, False),
        "shape": tuple(shape),
        "strides": tuple(strides),
        "typestr": np.dtype(dtype).str,
    }
    return np.asarray(Window(base, interface))
