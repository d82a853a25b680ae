"""The device of an array, without importing CuPy, and the address of its memory, faster than NumPy."""

import ctypes
import sys
from typing import Any

import numpy as np


def is_device_array(array: Any) -> bool:
    """Whether `array` is a cupy.ndarray; False without importing CuPy if it is not imported yet."""
    if type(array) is np.ndarray:
        return False
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(array, cupy.ndarray)


def is_array(value: Any) -> bool:
    """Whether it is an array, of any device."""
    return isinstance(value, np.ndarray) or is_device_array(value)


def range_of(array: Any) -> tuple[Any, Any] | None:
    """The minimum and the maximum; None for an empty array, and for a GPU's.

    For argument checks: values on a GPU are not checked, since the CPU would have to synchronize with it.
    """
    if is_device_array(array) or not array.size:
        return None
    return array.min(), array.max()


def to_numpy(array: Any) -> np.ndarray:
    """`array`, of any device, as a numpy.ndarray in the same memory format; synchronizes with its GPU."""
    if not is_device_array(array):
        return np.asarray(array)
    order = sorted(range(array.ndim), key=lambda axis: (-abs(array.strides[axis]), axis))
    return array.transpose(order).get().transpose(np.argsort(order)) if order else array.get()


def device_number(array: Any) -> int:
    """The index of the GPU that `array` is on; -1 for CPU memory."""
    if type(array) is np.ndarray:
        return -1
    return array.device.id if is_device_array(array) else -1


# offset of the data address in an ndarray object: right after the object header, in all versions of NumPy
DATA_ADDRESS_OFFSET = object.__basicsize__
_word_at = ctypes.c_size_t.from_address


def address_of(array: np.ndarray) -> int:
    """The address of the first element."""
    return _word_at(id(array) + DATA_ADDRESS_OFFSET).value


def knows_arrays() -> bool:
    """Whether this NumPy and Python store addresses at the expected offset."""
    probes = (np.zeros(3), np.zeros((4, 5))[1:, ::2])
    return all(address_of(probe) == probe.__array_interface__["data"][0] for probe in probes)
