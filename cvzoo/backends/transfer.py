"""Copies to and from a GPU through pinned memory, and a cache of constants on the GPU: anchors, weight tables."""

import collections
import contextlib
import math
import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from cvzoo.backends.arrays import device_number, is_device_array, to_numpy
from cvzoo.backends.cupy import memory as cupy_memory
from cvzoo.backends.cupy.library import CudaEvent, CudaStream, Cupy, cupy, memory_of
from cvzoo.typing.aliases import Array

T = TypeVar("T")
_MAX_CONSTANTS = 512  # some for each image size


class _Capture(threading.local):
    kept: list[object] | None = None


_capture = _Capture()


def keep_alive(memory: object) -> None:
    """Keep `memory` alive as long as the graph that this thread is capturing; a no-op without a capture."""
    if _capture.kept is not None:
        _capture.kept.append(memory)


@contextlib.contextmanager
def keeping_alive() -> Iterator[list[object]]:
    """A context for the capture of a graph; yields the objects that must live as long as the graph."""
    before, _capture.kept = _capture.kept, []
    try:
        yield _capture.kept
    finally:
        _capture.kept = before


class Constants:
    """Cache of arrays on devices by key, least recently used first out, but not while a CUDA graph reads them."""

    def __init__(self, size: int = _MAX_CONSTANTS):
        self._size = size
        self._arrays: collections.OrderedDict[Hashable, Array] = collections.OrderedDict()
        self._cupy: Cupy | None = None  # that the arrays belong to; tests replace it
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], np.ndarray]) -> Array:
        """The array on the current device, not to be changed.

        key: identifies the array
        make: called if it is not cached; the copy then synchronizes, which a CUDA graph cannot capture
        """
        xp = cupy()
        key = xp.cuda.runtime.getDevice(), key
        with self._lock:
            if self._cupy is not xp:
                self._arrays.clear()
                self._cupy = xp
            array = self._arrays.get(key)
            if array is None:
                array = xp.asarray(np.ascontiguousarray(make()))
                # kernels on other streams read it, too, and would not wait for the copy on this one
                xp.cuda.get_current_stream().synchronize()
                self._arrays[key] = array
                while len(self._arrays) > self._size:
                    self._arrays.popitem(last=False)
            else:
                self._arrays.move_to_end(key)
            keep_alive(array)
            return array


constants = Constants()


def constant(key: Hashable, make: Callable[[], np.ndarray]) -> Array:
    """See `AbstractBackend.constant`."""
    return constants.get(key, make)


def constant_for(array: np.ndarray, x: Array | int, key: Hashable) -> Array:
    """`array` itself, or its cached copy on the GPU of x.

    x: an array, or a device's index, -1 for the CPU, which avoids reading a Variable's array during a graph capture
    key: identifies the array in the cache
    """
    on_gpu = x >= 0 if isinstance(x, int) else is_device_array(x)
    return constants.get(key, lambda: array) if on_gpu else array


_ALIGNMENT = 256  # of arrays, in bytes, for vector loads of kernels
_SLOTS = 3  # pinned buffers, used in turn: one is filled while another is being copied
_SMALLEST = 1 << 16


class _Slot:
    """A pinned buffer, and the event after which it is free."""

    def __init__(self) -> None:
        self.host: np.ndarray = np.empty(0, np.uint8)
        self._event: CudaEvent | None = None

    def wait(self, size: int) -> np.ndarray:
        """The buffer, (size,) uint8, once it is free."""
        if self._event is not None:
            self._event.synchronize()
            self._event = None
        if len(self.host) < size:
            capacity = max(_SMALLEST, 1 << (size - 1).bit_length())
            self.host = np.frombuffer(cupy().cuda.alloc_pinned_memory(capacity), np.uint8, capacity)
        return self.host[:size]

    def __del__(self) -> None:
        # at the end of a thread, CuPy's pool would reuse the buffer immediately, although a copy may still read it
        if self._event is not None and not sys.is_finalizing():
            with contextlib.suppress(Exception):  # the GPU may be lost
                self._event.synchronize()

    def used(self, stream: CudaStream) -> None:
        """Mark the buffer as in use until the stream's current work is done."""
        self._event = cupy().cuda.Event(disable_timing=True)
        self._event.record(stream)


class _Slots(threading.local):
    def __init__(self) -> None:
        self.cupy: Cupy | None = None
        self.by_device: dict[int, list[_Slot]] = {}

    def next(self) -> _Slot:
        """The thread's next slot of the current device."""
        xp = cupy()
        if self.cupy is not xp:
            self.cupy, self.by_device = xp, {}
        slots = self.by_device.setdefault(xp.cuda.runtime.getDevice(), [])
        if len(slots) < _SLOTS:
            slots.append(_Slot())
        else:
            slots.append(slots.pop(0))
        return slots[-1]


_slots = _Slots()


def upload(arrays: Sequence[np.ndarray]) -> list[Array]:
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
    memory_of(whole).copy_from_host_async(host.ctypes.data, size, stream)
    slot.used(stream)
    return [xp.ndarray(array.shape, array.dtype, memory_of(whole) + start) for array, start in zip(arrays, starts)]


def download(arrays: Sequence[Array]) -> list[np.ndarray]:
    """The arrays of the current device on the host, by one copy; synchronizes.

    They are contiguous, with the memory order of axes on the device.
    """
    if not arrays:
        return []
    xp = cupy()
    stream = xp.cuda.get_current_stream()
    orders = [sorted(range(a.ndim), key=[-abs(stride) for stride in a.strides].__getitem__) for a in arrays]
    ordered = [a.transpose(order) if a.ndim > 1 else a for a, order in zip(arrays, orders)]
    dense = [xp.ascontiguousarray(a) for a in ordered]
    starts, size = _layout([a.nbytes for a in dense])
    whole = dense[0]
    if len(dense) > 1:
        whole = xp.empty((size,), np.uint8)
        for a, start in zip(dense, starts):
            if a.nbytes:
                (memory_of(whole) + start).copy_from_device_async(memory_of(a), a.nbytes, stream)
    slot = _slots.next()
    host = slot.wait(size)
    if size:
        memory_of(whole).copy_to_host_async(host.ctypes.data, whole.nbytes, stream)
        stream.synchronize()
    results = []
    for a, start, order in zip(ordered, starts, orders):
        array = np.ndarray(a.shape, a.dtype, host, start).copy()  # the pinned buffer will be reused
        results.append(array.transpose(np.argsort(order)) if array.ndim > 1 else array)
    return results


def to_device_of(array: T, x: object) -> T:
    """`array` itself, or copied to the GPU of x if it is on the CPU."""
    if isinstance(array, np.ndarray) and is_device_array(x):
        moved: Any = cupy_memory.asarray(array)
        return moved
    return array


def deferred_number(value: Array | float) -> Array | float:
    """A number or the value of a one-element array; of a GPU as a float64 copy, which `read_numbers` reads later
    together with others, since reading synchronizes."""
    if is_device_array(value):
        return value.reshape(()).astype(np.float64)
    return float(value.reshape(())) if isinstance(value, np.ndarray) else float(value)


def read_numbers(values: Sequence[Array | float]) -> list[float]:
    """The values of results of `deferred_number`, with one copy per device."""
    numbers = [0.0] * len(values)
    by_device: dict[int, list[tuple[int, Array]]] = {}
    for k, value in enumerate(values):
        if is_device_array(value):
            by_device.setdefault(device_number(value), []).append((k, value))
        else:
            numbers[k] = float(value)
    for device, items in by_device.items():
        with cupy().cuda.Device(device):
            read = to_numpy(cupy().stack([value for _, value in items]))
        for (k, _), number in zip(items, read.tolist()):
            numbers[k] = number
    return numbers


def on_host(arrays: Sequence[Array]) -> list[np.ndarray]:
    """The arrays of one device on the host: themselves, or by one copy from a GPU."""
    return download(arrays) if is_device_array(arrays[0]) else list(arrays)


def _layout(sizes: Sequence[int]) -> tuple[list[int], int]:
    """The offset of each array in bytes, and the total size."""
    starts, end = [], 0
    for size in sizes:
        starts.append(end)
        end += max(math.ceil(size / _ALIGNMENT), 1) * _ALIGNMENT
    return starts, end
