"""Arrays filled with arbitrary values, for tests of kernels whose results depend on no particular ones."""

import functools
import zlib
from collections.abc import Iterable

import numpy as np

_N_VALUE = 65521  # a prime: rows and maps of the usual sizes do not repeat
_N_WORD = 1021  # the same, of a checksum's columns
_N_FIRST = 16  # values at the start of noise that its seed determines


@functools.cache
def _values(dtype: np.dtype) -> np.ndarray:
    """Values from 0.1 to 1, so that roots and logarithms of them are finite; of integers 1 to 127."""
    generator = np.random.default_rng(0)
    floats = generator.uniform(0.1, 1.0, _N_VALUE).astype(np.float32)
    if dtype.kind == "V" or dtype == np.uint16:  # bfloat16, of which kernels know the bits
        return (floats.view(np.uint32) >> 16).astype(np.uint16).view(dtype)
    return floats.astype(dtype) if dtype.kind == "f" else generator.integers(1, 128, _N_VALUE).astype(dtype)


def checksum_of(arrays: Iterable[np.ndarray]) -> int:
    """A checksum of the arrays' bytes in the order of memory."""
    checksum = 0
    for array in arrays:
        dense = np.ascontiguousarray(_in_order_of_memory(array)).reshape(-1).view(np.uint8)
        n_word = dense.size // 8
        n_whole = n_word // _N_WORD * _N_WORD
        # sums of every 1,021st word: as fast as memory, and other than a sum of all they see values that move
        sums = dense[: 8 * n_whole].view(np.uint64).reshape(-1, _N_WORD).sum(0)
        checksum = zlib.crc32(dense[8 * n_whole :].data, zlib.crc32(sums.data, checksum))
    return checksum


def fill_with_noise(array: np.ndarray, seed: int = 0) -> bool:
    """Fill an array with positive values that vary from element to element; returns False, unchanged, unless dense.

    seed: another one gives other values
    """
    dense = _in_order_of_memory(array)
    if not dense.flags.c_contiguous or not dense.flags.writeable:
        return False
    flat, values = dense.reshape(-1), _values(array.dtype)
    n_whole = flat.size // _N_VALUE * _N_VALUE
    flat[:n_whole].reshape(-1, _N_VALUE)[...] = values
    flat[n_whole:] = values[: flat.size - n_whole]
    if seed:
        picked = np.random.default_rng(seed).integers(_N_VALUE, size=_N_FIRST)
        flat[:_N_FIRST] = values[picked][: flat.size]
    return True


def _in_order_of_memory(array: np.ndarray) -> np.ndarray:
    """The array with its axes in the order of their strides."""
    return array.transpose(sorted(range(array.ndim), key=lambda axis: -array.strides[axis]))
