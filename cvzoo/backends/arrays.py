"""The device of an array, without importing CuPy, and the address of its memory, faster than NumPy."""

import ctypes
import operator
import sys
from collections.abc import Callable, Iterable
from typing import TypeGuard, TypeVar

import numpy as np

from cvzoo.typing.aliases import Array

# attributes of CuPy's arrays, which are typed as NumPy's; attrgetter costs half of a function in Python
device_address: Callable[[Array], int] = operator.attrgetter("data.ptr")
_get: Callable[[Array], np.ndarray] = operator.methodcaller("get")
_device_id: Callable[[Array], int] = operator.attrgetter("device.id")


def is_device_array(array: object) -> TypeGuard[Array]:
    """Whether `array` is a cupy.ndarray; False without importing CuPy if it is not imported yet."""
    if type(array) is np.ndarray:
        return False
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(array, cupy.ndarray)


def is_array(value: object) -> TypeGuard[Array]:
    """Whether it is an array, of any device."""
    return isinstance(value, np.ndarray) or is_device_array(value)


_Function = TypeVar("_Function")


def of_device(arrays: Iterable[object], on_cpu: _Function, on_gpu: _Function) -> _Function:
    """`on_cpu` if all arrays are in CPU memory, else `on_gpu`: of two functions the one for these arrays."""
    return on_cpu if all(isinstance(array, np.ndarray) for array in arrays) else on_gpu


def range_of(array: Array) -> tuple[float, float] | None:
    """The minimum and the maximum; None for an empty array, and for a GPU's.

    For argument checks: values on a GPU are not checked, since the CPU would have to synchronize with it.
    """
    if is_device_array(array) or not array.size:
        return None
    return array.min(), array.max()


def to_numpy(array: Array) -> np.ndarray:
    """`array`, of any device, as a numpy.ndarray in the same memory format; synchronizes with its GPU."""
    if not is_device_array(array):
        return np.asarray(array)
    # transposed to C order first, since CuPy's get() would make a C-contiguous copy on the GPU of any other
    order = sorted(range(array.ndim), key=lambda axis: (-abs(array.strides[axis]), axis))
    return _get(array.transpose(order)).transpose(np.argsort(order)) if order else _get(array)


def device_number(array: object) -> int:
    """The index of the GPU that `array` is on; -1 for CPU memory."""
    if type(array) is np.ndarray:
        return -1
    return _device_id(array) if is_device_array(array) else -1


# offset of the data address in an ndarray object: right after the object header, in all versions of NumPy
DATA_ADDRESS_OFFSET = object.__basicsize__
_word_at = ctypes.c_size_t.from_address


def numpy_address(array: np.ndarray) -> int:
    """The address of the first element."""
    return _word_at(id(array) + DATA_ADDRESS_OFFSET).value


def can_read_addresses() -> bool:
    """Whether this NumPy and Python store addresses at the expected offset."""
    probes = (np.zeros(3), np.zeros((4, 5))[1:, ::2])
    return all(numpy_address(probe) == probe.__array_interface__["data"][0] for probe in probes)
