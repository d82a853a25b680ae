"""Where an array lies, asked without importing CuPy, and where its memory begins, asked faster than NumPy tells."""

import ctypes
import sys
from typing import Any

import numpy as np


def is_device_array(array: Any) -> bool:
    """Whether `array` is a cupy.ndarray; who has not imported CuPy has none."""
    if type(array) is np.ndarray:
        return False
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(array, cupy.ndarray)


def is_array(value: Any) -> bool:
    """Whether it is an array, of any device."""
    return isinstance(value, np.ndarray) or is_device_array(value)


def range_of(array: Any) -> tuple[Any, Any] | None:
    """The smallest and the largest number; None for an empty array, and for a GPU's.

    Who checks numbers at a door asks here: a GPU's are not looked at, since the processor would have to wait for them.
    """
    if is_device_array(array) or not array.size:
        return None
    return array.min(), array.max()


def to_numpy(array: Any) -> np.ndarray:
    """`array`, of any device, as a numpy.ndarray, axes lying as they do; waits for a GPU that is computing it."""
    if not is_device_array(array):
        return np.asarray(array)
    order = sorted(range(array.ndim), key=lambda axis: (-abs(array.strides[axis]), axis))
    return array.transpose(order).get().transpose(np.argsort(order)) if order else array.get()


def device_number(array: Any) -> int:
    """The number of the GPU that `array` lies on; -1 for the processor's memory."""
    if type(array) is np.ndarray:
        return -1
    return array.device.id if is_device_array(array) else -1


# where in an ndarray object the address of its data stands: behind the object's head, since NumPy 1.0
DATA_ADDRESS_OFFSET = object.__basicsize__
_word_at = ctypes.c_size_t.from_address


def address_of(array: np.ndarray) -> int:
    """Where its first element lies."""
    return _word_at(id(array) + DATA_ADDRESS_OFFSET).value


def knows_arrays() -> bool:
    """Whether this NumPy and Python keep addresses where they are looked for."""
    probes = (np.zeros(3), np.zeros((4, 5))[1:, ::2])
    return all(address_of(probe) == probe.__array_interface__["data"][0] for probe in probes)
