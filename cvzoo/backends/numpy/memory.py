"""Allocation of arrays, and their memory formats."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cvzoo.backends import arrays
from cvzoo.typing.aliases import ArrayLike

__all__ = ["asarray", "channels_last", "empty", "like", "reshaped", "to_numpy", "zeros"]


def empty(shape: Sequence[int], dtype: npt.DTypeLike = "float32") -> np.ndarray:
    """An array of undefined values, channels-last if it is 4-D."""
    if len(shape) == 4:
        b, c, h, w = shape
        return np.empty((b, h, w, c), dtype).transpose(0, 3, 1, 2)
    return np.empty(tuple(shape), dtype)


def zeros(shape: Sequence[int], dtype: npt.DTypeLike = "float32") -> np.ndarray:
    """An array of zeros, channels-last if it is 4-D."""
    if len(shape) == 4:
        b, c, h, w = shape
        return np.zeros((b, h, w, c), dtype).transpose(0, 3, 1, 2)
    return np.zeros(tuple(shape), dtype)


def like(x: np.ndarray) -> np.ndarray:
    """See `AbstractBackend.like`."""
    return np.empty_like(x)


def asarray(array: ArrayLike, dtype: npt.DTypeLike | None = None) -> np.ndarray:
    """`array` (of any device) as a numpy.ndarray; not copied where it is one of that dtype already."""
    return np.asarray(arrays.to_numpy(array) if arrays.is_device_array(array) else array, dtype)


def to_numpy(array: np.ndarray) -> np.ndarray:
    """`array` itself; of a GPU's array a copy."""
    return arrays.to_numpy(array)


def channels_last(x: np.ndarray) -> np.ndarray:
    """x (B, C, H, W) itself if it is channels-last, else a channels-last copy."""
    if x.transpose(0, 2, 3, 1).flags.c_contiguous:
        return x
    y = empty(x.shape, x.dtype)
    y[...] = x
    return y


def reshaped(x: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """See `AbstractBackend.reshaped`."""
    return x.reshape(shape)
