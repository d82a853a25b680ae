"""The memory pool for kernels' results: aligned blocks, reused if large, since page faults are expensive.

All results of oneDNN are allocated here. For results larger than the cache, kernels may use non-temporal stores, which
fault unless the result is aligned to 64 bytes: those of resampling do.

A new array of 25 MB causes 6,400 page faults: several milliseconds. So the memory of a large array without references
is kept for the next one of about the same size. Such an array is a plain numpy.ndarray; its base is a lease that
returns the memory to the pool when the last view of it is freed.

CVZOO_MEMORY_POOL: limit of idle memory in megabytes; 0 turns the pool off. Default: an eighth of the machine's memory.
Beyond the limit, the least recently requested sizes are freed first, as images of varying sizes leave many behind.
"""

import contextlib
import ctypes
import functools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.errors.exceptions import ConfigError

ALIGNMENT = 64  # bytes; a cache line, and the widest instructions
_SMALLEST = 1 << 16
_FRUGAL = 16 << 20
_BYTE = np.dtype(np.uint8)
_Block = tuple[np.ndarray, int]  # the memory, and its first aligned address


def aligned_memory(nbytes: int) -> tuple[np.ndarray, int]:
    """Fresh memory as (N,) uint8 of undefined values, and the offset of `nbytes` aligned bytes in it."""
    memory = np.empty(nbytes + ALIGNMENT, _BYTE)
    return memory, -numpy_address(memory) % ALIGNMENT


@functools.cache
def _memory_type(n_line: int) -> type:
    """The ctypes type of small arrays' memory, which is twice as fast as a base as a NumPy array is."""
    size = (n_line + 1) * ALIGNMENT
    return type("Memory", (ctypes.Array,), {"_type_": ctypes.c_ubyte, "_length_": size})


def _lease_type(size: int, give_back: Callable[[int, _Block], None]) -> Any:
    def release(lease: Any) -> None:
        give_back(size, lease.block)

    return type("Lease", (ctypes.Array,), {"_type_": ctypes.c_ubyte, "_length_": size, "__del__": release})


def _size_class(nbytes: int) -> int:
    """The next of four sizes an octave, so that at most a fifth of a block is unused."""
    shift = (nbytes - 1).bit_length() - 3
    return (((nbytes - 1) >> shift) + 1) << shift


def _limit_of_this_machine() -> int:
    asked = os.environ.get("CVZOO_MEMORY_POOL")
    if asked:
        if not asked.isdigit():
            raise ConfigError("CVZOO_MEMORY_POOL must be a number of megabytes", got=repr(asked))
        return int(asked) << 20
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8


class Pool:
    """A thread-safe memory pool for arrays.

    limit: the most idle bytes
    """

    def __init__(self, limit: int):
        self.limit = limit
        self.idle_bytes = 0
        self.made_blocks = 0
        self._n_frugal = 0
        self._idle: dict[int, list[_Block]] = {}
        self._types: dict[int, Any] = {}  # by size, a type of ctypes.Array
        # reentrant: the garbage collector may free a lease during take(), in the same thread
        self._lock = threading.RLock()

    def take(self, shape: Sequence[int], strides: Sequence[int], dtype: np.dtype, nbytes: int) -> np.ndarray:
        """An aligned array of undefined values; strides: in bytes, none negative, spanning `nbytes`."""
        if nbytes < _SMALLEST:
            memory = _memory_type((nbytes + ALIGNMENT - 1) // ALIGNMENT)()
            return np.ndarray(shape, dtype, memory, -ctypes.addressof(memory) % ALIGNMENT, strides)
        if self.limit == 0:
            return np.ndarray(shape, dtype, *aligned_memory(nbytes), strides)
        size = _size_class(nbytes)
        block = None
        with self._lock:
            idle = self._idle.pop(size, None)
            if idle:
                block = idle.pop()
                self.idle_bytes -= size
            if idle is not None:
                self._idle[size] = idle  # behind the others: it is in use
        if block is None:
            block = self._new_block(size)
        lease = self._types[size].from_address(block[1])
        lease.block = block
        # the array's base is the lease, which returns the block when the last view is freed
        return np.ndarray(shape, dtype, lease, 0, strides)

    def _new_block(self, size: int) -> _Block:
        if size not in self._types:
            self._types[size] = _lease_type(size, self._give_back)
        self.made_blocks += 1
        memory, start = aligned_memory(size)
        return memory, numpy_address(memory) + start

    def _give_back(self, size: int, block: _Block) -> None:
        with self._lock:
            limit = min(self.limit, _FRUGAL) if self._n_frugal else self.limit
            if size > limit:
                return
            self._idle.setdefault(size, []).append(block)
            self.idle_bytes += size
            while self.idle_bytes > limit:
                self._drop_stale()

    @contextlib.contextmanager
    def frugal(self) -> Iterator[None]:
        """A context in which hardly any idle memory is kept, for work that is done once."""
        with self._lock:
            self._n_frugal += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_frugal -= 1

    def _drop_stale(self) -> None:
        """Free a block of the least recently requested size."""
        size = next(iter(self._idle))
        idle = self._idle[size]
        if idle:
            idle.pop()
            self.idle_bytes -= size
        if not idle:
            del self._idle[size]

    def release(self) -> int:
        """Return all idle memory to the system; returns its size in bytes."""
        with self._lock:
            idle, self._idle = self._idle, {}
            released, self.idle_bytes = self.idle_bytes, 0
        # outside of the lock, since freeing large blocks takes time
        del idle
        if _trim is not None:
            _trim(0)  # glibc does not return freed pieces to the system by itself
        return released


def laid_out(array: np.ndarray, strides: Sequence[int]) -> np.ndarray:
    """A copy with these strides, none of them negative, at an aligned address."""
    nbytes = sum((n - 1) * stride for n, stride in zip(array.shape, strides)) + array.itemsize if array.size else 0
    copy = pool.take(array.shape, strides, array.dtype, nbytes)
    copy[...] = array
    return copy


_trim: Callable[[int], int] | None
try:
    _trim = ctypes.CDLL(None).malloc_trim
except (AttributeError, OSError, TypeError):  # another C library
    _trim = None
pool = Pool(_limit_of_this_machine())


def _new_lock() -> None:
    # another thread may have held it when this process was forked
    pool._lock = threading.RLock()


os.register_at_fork(after_in_child=_new_lock)
