"""Arrays copied to a GPU and back through pinned memory, and those that stay there: anchors, tables of weights."""

import collections
import contextlib
import math
import sys
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from cvzoo.backends.arrays import device_number, is_device_array
from cvzoo.backends.cuda.held import hold
from cvzoo.backends.cupy import memory as cupy_memory
from cvzoo.backends.cupy.library import cupy

# sizes of images change; each has a few constants
_KEPT = 512


class Constants:
    """Arrays by key, copied to a device when first asked for there; the longest unused is forgotten first, though not
    while a CUDA graph reads it."""

    def __init__(self, kept: int = _KEPT):
        self._kept = kept
        self._arrays: collections.OrderedDict[Hashable, Any] = collections.OrderedDict()
        self._library: Any = None
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], np.ndarray]) -> Any:
        """The array on the current device, not to be changed.

        key: what tells it from others
        make: called when there is none yet; then the copy is waited for, once, which no CUDA graph can capture
        """
        library = cupy()
        key = library.cuda.runtime.getDevice(), key
        with self._lock:
            if self._library is not library:
                self._arrays.clear()
                self._library = library
            found = self._arrays.get(key)
            if found is None:
                found = library.asarray(np.ascontiguousarray(make()))
                # it will be read on other streams, too
                library.cuda.get_current_stream().synchronize()
                self._arrays[key] = found
                while len(self._arrays) > self._kept:
                    self._arrays.popitem(last=False)
            else:
                self._arrays.move_to_end(key)
            hold(found)
            return found


constants = Constants()


def constant(key: Hashable, make: Callable[[], np.ndarray]) -> Any:
    """See `AbstractBackend.constant`."""
    return constants.get(key, make)


def beside(array: np.ndarray, x: Any, key: Hashable) -> Any:
    """`array` itself, or, where x is on a GPU, its copy there, made once.

    x: an array, or the number of a device, -1 for the CPU: who asks a Variable for its array reads numbers
    key: what tells the array from others
    """
    on_gpu = x >= 0 if isinstance(x, int) else is_device_array(x)
    return constants.get(key, lambda: array) if on_gpu else array


# arrays begin at multiples of this, as vector loads of kernels want it
_ALIGNMENT = 256
# buffers in use by turns: one is filled while the copy out of another is under way
_SLOTS = 3
_SMALLEST = 1 << 16


class _Slot:
    """A pinned buffer, and the event after which nothing reads it any more."""

    def __init__(self) -> None:
        self.host: np.ndarray = np.empty(0, np.uint8)
        self._memory: Any = None
        self._event: Any = None

    def wait(self, size: int) -> np.ndarray:
        """(size,) uint8, not in use."""
        if self._event is not None:
            self._event.synchronize()
            self._event = None
        if len(self.host) < size:
            capacity = max(_SMALLEST, 1 << (size - 1).bit_length())
            self._memory = cupy().cuda.alloc_pinned_memory(capacity)
            self.host = np.frombuffer(self._memory, np.uint8, capacity)
        return self.host[:size]

    def __del__(self) -> None:
        # a thread has ended: CuPy would give the buffer to others at once
        if self._event is not None and not sys.is_finalizing():
            with contextlib.suppress(Exception):  # of a GPU that is gone
                self._event.synchronize()

    def used(self, stream: Any) -> None:
        """What the stream does until now, uses the buffer."""
        self._event = cupy().cuda.Event(disable_timing=True)
        self._event.record(stream)


class _Slots(threading.local):
    def __init__(self) -> None:
        self.library: Any = None
        self.by_device: dict[int, list[_Slot]] = {}

    def next(self) -> _Slot:
        """A thread's slots of the current device, by turns."""
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
    """The arrays on the current device, row-major, by one asynchronous copy; the current stream has them.

    They are views of one allocation, each aligned for kernels' widest loads. The host's arrays may be changed at once.
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
    """The arrays of the current device on the host, by one copy; waits until it is done.

    Axes lie in memory as they do on the device, contiguous.
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
    found = []
    for a, start, order in zip(turned, starts, orders):
        array = np.ndarray(a.shape, a.dtype, host, start).copy()
        found.append(array.transpose(np.argsort(order)) if array.ndim > 1 else array)
    return found


def along_with(array: Any, x: Any) -> Any:
    """`array` itself; one that the CPU made, where x is on a GPU: there."""
    if isinstance(array, np.ndarray) and is_device_array(x):
        return cupy_memory.asarray(array)
    return array


def number_later(value: Any) -> Any:
    """The number that an array of one element or a plain number holds; a GPU's as an array of float64 of its own, to be
    read by `numbers_of` with others, since who reads it waits."""
    if is_device_array(value):
        return value.reshape(()).astype(np.float64)
    return float(value.reshape(())) if isinstance(value, np.ndarray) else float(value)


def numbers_of(values: Sequence[Any]) -> list[float]:
    """The numbers of what `number_later` gave; each device is asked once."""
    found = [0.0 if is_device_array(value) else value for value in values]
    places: dict[int, list[int]] = {}
    for place, value in enumerate(values):
        if is_device_array(value):
            places.setdefault(device_number(value), []).append(place)
    for number, mine in places.items():
        with cupy().cuda.Device(number):
            read = cupy().stack([values[place] for place in mine]).get()
        for place, value in zip(mine, read.tolist()):
            found[place] = value
    return found


def on_host(arrays: Sequence[Any]) -> list[np.ndarray]:
    """The arrays of one device on the host: themselves, or by one copy from a GPU."""
    return download(arrays) if is_device_array(arrays[0]) else list(arrays)


def _layout(sizes: Sequence[int]) -> tuple[list[int], int]:
    """Where each of so many bytes begins, and how many there are in all."""
    starts, end = [], 0
    for size in sizes:
        starts.append(end)
        end += max(math.ceil(size / _ALIGNMENT), 1) * _ALIGNMENT
    return starts, end
