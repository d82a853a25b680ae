"""Arrays filled with arbitrary values, for tests of kernels whose results depend on no particular ones."""

import functools

import numpy as np

_N_VALUE = 65521  # a prime: rows and maps of the usual sizes do not repeat


@functools.cache
def _values(dtype: np.dtype) -> np.ndarray:
    """Values from 0.1 to 1, so that roots and logarithms of them are finite; of integers 1 to 127."""
    generator = np.random.default_rng(0)
    floats = generator.uniform(0.1, 1.0, _N_VALUE).astype(np.float32)
    if dtype.kind == "V" or dtype == np.uint16:  # bfloat16, of which kernels know the bits
        return (floats.view(np.uint32) >> 16).astype(np.uint16).view(dtype)
    return floats.astype(dtype) if dtype.kind == "f" else generator.integers(1, 128, _N_VALUE).astype(dtype)


def fill_with_noise(array: np.ndarray) -> bool:
    """Fill an array with positive values that vary from element to element; returns False, unchanged, unless dense."""
    order = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    dense = array.transpose(order)
    if not dense.flags.c_contiguous or not dense.flags.writeable:
        return False
    flat, values = dense.reshape(-1), _values(array.dtype)
    n_whole = flat.size // _N_VALUE * _N_VALUE
    flat[:n_whole].reshape(-1, _N_VALUE)[...] = values
    flat[n_whole:] = values[: flat.size - n_whole]
    return True
