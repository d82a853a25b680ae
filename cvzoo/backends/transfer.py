"""Copies to and from a GPU through pinned memory, and a cache of constants on the GPU: anchors, weight tables."""

import collections
import contextlib
import math
import sys
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np

from cvzoo.backends.arrays import device_number, is_device_array
from cvzoo.backends.cuda.held import hold
from cvzoo.backends.cupy import memory as cupy_memory
from cvzoo.backends.cupy.library import cupy

T = TypeVar("T")
# image sizes vary, and each has a few constants
_KEPT = 512


class Constants:
    """Cache of arrays on devices by key, least recently used first out, but not while a CUDA graph reads them."""

    def __init__(self, kept: int = _KEPT):
        self._kept = kept
        self._arrays: collections.OrderedDict[Hashable, Any] = collections.OrderedDict()
        self._library: Any = None
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], np.ndarray]) -> Any:
        """The array on the current device, not to be changed.

        key: identifies the array
        make: called if it is not cached; the copy then synchronizes, which a CUDA graph cannot capture
        """
        library = cupy()
        key = library.cuda.runtime.getDevice(), key
        with self._lock:
            if self._library is not library:
                self._arrays.clear()
                self._library = library
            array = self._arrays.get(key)
            if array is None:
                array = library.asarray(np.ascontiguousarray(make()))
                # it will be read on other streams, too
                library.cuda.get_current_stream().synchronize()
                self._arrays[key] = array
                while len(self._arrays) > self._kept:
                    self._arrays.popitem(last=False)
            else:
                self._arrays.move_to_end(key)
            hold(array)
            return array


constants = Constants()


def constant(key: Hashable, make: Callable[[], np.ndarray]) -> Any:
    """See `AbstractBackend.constant`."""
    return constants.get(key, make)


def constant_for(array: np.ndarray, x: Any, key: Hashable) -> Any:
    """`array` itself, or its cached copy on the GPU of x.

    x: an array, or a device's index, -1 for the CPU, which avoids reading a Variable's array during a graph capture
    key: identifies the array in the cache
    """
    on_gpu = x >= 0 if isinstance(x, int) else is_device_array(x)
    return constants.get(key, lambda: array) if on_gpu else array


# alignment of arrays in bytes, for vector loads of kernels
_ALIGNMENT = 256
# pinned buffers, used in turn: one is filled while another is being copied
_SLOTS = 3
_SMALLEST = 1 << 16


class _Slot:
    """A pinned buffer, and the event after which it is free."""

    def __init__(self) -> None:
        self.host: np.ndarray = np.empty(0, np.uint8)
        self._memory: Any = None
        self._event: Any = None

    def wait(self, size: int) -> np.ndarray:
        """The buffer, (size,) uint8, once it is free."""
        if self._event is not None:
            self._event.synchronize()
            self._event = None
        if len(self.host) < size:
            capacity = max(_SMALLEST, 1 << (size - 1).bit_length())
            self._memory = cupy().cuda.alloc_pinned_memory(capacity)
            self.host = np.frombuffer(self._memory, np.uint8, capacity)
        return self.host[:size]

    def __del__(self) -> None:
        # at the end of a thread: CuPy would reuse the buffer at once, although a copy may be reading it
        if self._event is not None and not sys.is_finalizing():
            with contextlib.suppress(Exception):  # the GPU may be lost
                self._event.synchronize()

    def used(self, stream: Any) -> None:
        """Mark the buffer as in use until the stream's current work is done."""
        self._event = cupy().cuda.Event(disable_timing=True)
        self._event.record(stream)


class _Slots(threading.local):
    def __init__(self) -> None:
        self.library: Any = None
        self.by_device: dict[int, list[_Slot]] = {}

    def next(self) -> _Slot:
        """The thread's next slot of the current device."""
        library = cupy()
        if self.library is not library:
            self.library, self.by_device = library, {}
        slots = self.by_device.setdefault(library.cuda.runtime.getDevice(), [])
        if len(slots) < _SLOTS:
            slots.append(_Slot())
        else:
            slots.append(slots.pop(0))
        return slots[-1]


_slots = _Slots()


def upload(arrays: Sequence[np.ndarray]) -> list[Any]:
    """The arrays on the current device, row-major, by one asynchronous copy on the current stream.

    They are views of one allocation, each aligned for kernels' widest loads. The host's arrays may be changed
    immediately.
    """
    if not arrays:
        return []
    xp = cupy()
    starts, size = _layout([array.nbytes for array in arrays])
    slot = _slots.next()
    host = slot.wait(size)
    for array, start in zip(arrays, starts):
        np.ndarray(array.shape, array.dtype, host, start)[...] = array
    whole = xp.empty((size,), np.uint8)
    stream = xp.cuda.get_current_stream()
    whole.data.copy_from_host_async(host.ctypes.data, size, stream)
    slot.used(stream)
    return [xp.ndarray(array.shape, array.dtype, whole.data + start) for array, start in zip(arrays, starts)]


def download(arrays: Sequence[Any]) -> list[np.ndarray]:
    """The arrays of the current device on the host, by one copy; synchronizes.

    They are contiguous, with the memory order of axes on the device.
    """
    if not arrays:
        return []
    xp = cupy()
    stream = xp.cuda.get_current_stream()
    orders = [sorted(range(a.ndim), key=[-abs(stride) for stride in a.strides].__getitem__) for a in arrays]
    turned = [a.transpose(order) if a.ndim > 1 else a for a, order in zip(arrays, orders)]
    dense = [xp.ascontiguousarray(a) for a in turned]
    starts, size = _layout([a.nbytes for a in dense])
    whole = dense[0]
    if len(dense) > 1:
        whole = xp.empty((size,), np.uint8)
        for a, start in zip(dense, starts):
            if a.nbytes:
                (whole.data + start).copy_from_device_async(a.data, a.nbytes, stream)
    slot = _slots.next()
    host = slot.wait(size)
    if size:
        whole.data.copy_to_host_async(host.ctypes.data, whole.nbytes, stream)
        stream.synchronize()
    results = []
    for a, start, order in zip(turned, starts, orders):
        array = np.ndarray(a.shape, a.dtype, host, start).copy()
        results.append(array.transpose(np.argsort(order)) if array.ndim > 1 else array)
    return results


def to_device_of(array: T, x: Any) -> T:
    """`array` itself, or copied to the GPU of x if it is on the CPU."""
    if isinstance(array, np.ndarray) and is_device_array(x):
        moved: Any = cupy_memory.asarray(array)
        return moved
    return array


def deferred_number(value: Any) -> Any:
    """A number or the value of a one-element array; of a GPU as a float64 copy, which `read_numbers` reads later
    together with others, since reading synchronizes."""
    if is_device_array(value):
        return value.reshape(()).astype(np.float64)
    return float(value.reshape(())) if isinstance(value, np.ndarray) else float(value)


def read_numbers(values: Sequence[Any]) -> list[float]:
    """The values of results of `deferred_number`, with one copy per device."""
    numbers = [0.0 if is_device_array(value) else value for value in values]
    by_device: dict[int, list[int]] = {}
    for k, value in enumerate(values):
        if is_device_array(value):
            by_device.setdefault(device_number(value), []).append(k)
    for device, indexes in by_device.items():
        with cupy().cuda.Device(device):
            read = cupy().stack([values[k] for k in indexes]).get()
        for k, value in zip(indexes, read.tolist()):
            numbers[k] = value
    return numbers


def on_host(arrays: Sequence[Any]) -> list[np.ndarray]:
    """The arrays of one device on the host: themselves, or by one copy from a GPU."""
    return download(arrays) if is_device_array(arrays[0]) else list(arrays)


def _layout(sizes: Sequence[int]) -> tuple[list[int], int]:
    """The offset of each array in bytes, and the total size."""
    starts, end = [], 0
    for size in sizes:
        starts.append(end)
        end += max(math.ceil(size / _ALIGNMENT), 1) * _ALIGNMENT
    return starts, end
