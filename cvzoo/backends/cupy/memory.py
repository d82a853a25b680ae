"""Allocating arrays of a GPU and choosing where their axes lie in memory."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.backends.arrays import device_number, is_device_array
from cvzoo.backends.arrays import to_numpy as _to_numpy
from cvzoo.backends.cupy.library import cupy

__all__ = ["asarray", "channels_last", "empty", "like", "reshaped", "to_numpy", "zeros"]


def empty(shape: Sequence[int], dtype: Any = "float32") -> Any:
    """An array of undefined values, channels-last if it is 4-D."""
    if len(shape) == 4:
        b, c, h, w = shape
        return cupy().empty((b, h, w, c), dtype).transpose(0, 3, 1, 2)
    return cupy().empty(tuple(shape), dtype)


def zeros(shape: Sequence[int], dtype: Any = "float32") -> Any:
    """An array of zeros, channels-last if it is 4-D."""
    if len(shape) == 4:
        b, c, h, w = shape
        return cupy().zeros((b, h, w, c), dtype).transpose(0, 3, 1, 2)
    return cupy().zeros(tuple(shape), dtype)


def asarray(array: Any, dtype: Any = None) -> Any:
    """`array` (of any device, or a list) as a cupy.ndarray of the current device; not copied where it is one of that
    dtype already. The order of its axes in memory stays as it is.
    """
    if is_device_array(array):
        if dtype is not None and array.dtype != dtype:
            with on_device(array):
                array = array.astype(dtype)
        return array if device_number(array) == cupy().cuda.runtime.getDevice() else _from_neighbour(array)
    array = np.asarray(array, dtype)
    order = _order(array)
    dense = np.asarray(array.transpose(order), order="C")
    return cupy().array(dense).transpose(np.argsort(order).tolist())


def _from_neighbour(x: Any) -> Any:
    """x of another GPU, copied to the current one after all work that is under way on either's current stream."""
    cuda = cupy().cuda
    order = _order(x)
    with on_device(x):
        dense = x.transpose(order).copy(order="C") if x.ndim else x
        ready = cuda.Event(disable_timing=True)
        ready.record(cuda.get_current_stream())
    stream = cuda.get_current_stream()
    stream.wait_event(ready)
    y = cupy().empty(dense.shape, x.dtype)
    if x.nbytes:
        y.data.copy_from_device_async(dense.data, x.nbytes, stream)
    copied = cuda.Event(disable_timing=True)
    copied.record(stream)
    with on_device(x):  # its memory is not reused before it is read
        cuda.get_current_stream().wait_event(copied)
    return y.transpose(np.argsort(order).tolist())


def on_device(x: Any) -> Any:
    """A block in which x's device is the current one."""
    return cupy().cuda.Device(device_number(x))


def _order(x: Any) -> list[int]:
    """x's axes, as they lie in memory."""
    return sorted(range(x.ndim), key=lambda axis: (-abs(x.strides[axis]), axis))


def like(x: Any) -> Any:
    """An array of undefined values on the current device with x's shape, dtype and order in memory."""
    order = _order(x)
    dense = cupy().empty([x.shape[axis] for axis in order], x.dtype)
    return dense.transpose(np.argsort(order).tolist())


def to_numpy(array: Any) -> np.ndarray:
    """`array` as a numpy.ndarray; waits for the GPU."""
    return _to_numpy(array)


def channels_last(x: Any) -> Any:
    """x (B, C, H, W) itself if it is channels-last, else a copy that does."""
    if x.transpose(0, 2, 3, 1).flags.c_contiguous:
        return x
    y = empty(x.shape, x.dtype)
    y[...] = x
    return y


def reshaped(x: Any, shape: Sequence[int]) -> Any:
    """See `AbstractBackend.reshaped`."""
    return x.reshape(tuple(shape))
