"""Allocation of arrays on a GPU, and their memory formats."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cvzoo.backends.arrays import device_number, is_device_array
from cvzoo.backends.arrays import to_numpy as _to_numpy
from cvzoo.backends.cupy.library import CudaDevice, cupy, memory_of
from cvzoo.typing.aliases import Array, ArrayLike

__all__ = ["asarray", "channels_last", "empty", "like", "reshaped", "to_numpy", "zeros"]


def empty(shape: Sequence[int], dtype: npt.DTypeLike = "float32") -> Array:
    """See `AbstractBackend.empty`."""
    if len(shape) == 4:
        b, c, h, w = shape
        return cupy().empty((b, h, w, c), dtype).transpose(0, 3, 1, 2)
    return cupy().empty(tuple(shape), dtype)


def zeros(shape: Sequence[int], dtype: npt.DTypeLike = "float32") -> Array:
    """See `AbstractBackend.zeros`."""
    if len(shape) == 4:
        b, c, h, w = shape
        return cupy().zeros((b, h, w, c), dtype).transpose(0, 3, 1, 2)
    return cupy().zeros(tuple(shape), dtype)


def asarray(array: ArrayLike, dtype: npt.DTypeLike | None = None) -> Array:
    """See `AbstractBackend.asarray`; the array keeps its memory format."""
    if is_device_array(array):
        if dtype is not None and array.dtype != dtype:
            with on_device(array):
                array = array.astype(dtype)
        return array if device_number(array) == cupy().cuda.runtime.getDevice() else _from_other_gpu(array)
    array = np.asarray(array, dtype)
    order = _order(array)
    dense = np.asarray(array.transpose(order), order="C")
    return cupy().array(dense).transpose(np.argsort(order).tolist())


def _from_other_gpu(x: Array) -> Array:
    """x copied from another GPU, after the work enqueued on the current streams of both."""
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
        memory_of(y).copy_from_device_async(memory_of(dense), x.nbytes, stream)
    copied = cuda.Event(disable_timing=True)
    copied.record(stream)
    with on_device(x):  # so that its pool does not reuse the memory of `dense` before it is read
        cuda.get_current_stream().wait_event(copied)
    return y.transpose(np.argsort(order).tolist())


def on_device(x: Array) -> CudaDevice:
    """A context in which x's GPU is the current device."""
    return cupy().cuda.Device(device_number(x))


def _order(x: Array) -> list[int]:
    """x's axes, the outermost in memory first."""
    return sorted(range(x.ndim), key=lambda axis: (-abs(x.strides[axis]), axis))


def like(x: Array) -> Array:
    """See `AbstractBackend.like`."""
    order = _order(x)
    dense = cupy().empty([x.shape[axis] for axis in order], x.dtype)
    return dense.transpose(np.argsort(order).tolist())


def to_numpy(array: Array) -> np.ndarray:
    """See `AbstractBackend.to_numpy`; synchronizes."""
    return _to_numpy(array)


def channels_last(x: Array) -> Array:
    """See `AbstractBackend.channels_last`."""
    if x.transpose(0, 2, 3, 1).flags.c_contiguous:
        return x
    y = empty(x.shape, x.dtype)
    y[...] = x
    return y


def reshaped(x: Array, shape: Sequence[int]) -> Array:
    """See `AbstractBackend.reshaped`."""
    return x.reshape(tuple(shape))
