"""Where a numpy.ndarray's memory lies, asked faster than NumPy tells."""

import ctypes

import numpy as np

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
