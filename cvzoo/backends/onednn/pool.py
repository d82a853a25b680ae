"""The memory pool for kernels' results: aligned blocks, reused if large, since page faults are expensive.

All that oneDNN writes comes from here. Once a result is larger than the cache, kernels may store past it with
instructions that fault where the result does not begin at a multiple of 64 bytes: those of resampling do.

An array of 25 MB touches 6,400 pages for the first time, and each costs a fault: several milliseconds. So the memory of
a large array without references is kept for the next one of about the same size. Such an array is a plain
numpy.ndarray; its base is a lease that gives the memory back when the last view of it is gone.

CVZOO_MEMORY_POOL: how many megabytes may lie idle; 0 turns the pool off. Default: an eighth of the machine's memory.
Where that is not enough, the sizes that were not asked for for longest go first: images of ever new sizes leave many
behind.
"""

import contextlib
import ctypes
import functools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from cvzoo.backends.arrays import address_of
from cvzoo.errors.exceptions import ConfigError

ALIGNMENT = 64  # bytes; of a line of the cache, and of the widest instructions
_SMALLEST = 1 << 16
_FRUGAL = 16 << 20
_BYTE = np.dtype(np.uint8)
_Block = tuple[np.ndarray, int]  # the memory, and its first aligned address


def aligned_memory(nbytes: int) -> tuple[np.ndarray, int]:
    """Fresh memory as (N,) uint8 of undefined values, and how far behind its start `nbytes` aligned bytes begin."""
    memory = np.empty(nbytes + ALIGNMENT, _BYTE)
    return memory, -address_of(memory) % ALIGNMENT


@functools.cache
def _memory_type(n_line: int) -> type:
    """Of small arrays' memory: an array of NumPy's own takes twice as long to be another one's memory."""
    size = (n_line + 1) * ALIGNMENT
    return type("Memory", (ctypes.Array,), {"_type_": ctypes.c_ubyte, "_length_": size})


def _lease_type(size: int, give_back: Callable[[int, _Block], None]) -> Any:
    class Lease(ctypes.Array):
        _type_ = ctypes.c_ubyte
        _length_ = size
        block: _Block

        def __del__(self) -> None:
            give_back(size, self.block)

    return Lease


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
    """Memory for arrays. Safe among threads.

    limit: how many bytes may lie idle
    """

    def __init__(self, limit: int):
        self.limit = limit
        self.idle_bytes = 0
        self.made_blocks = 0
        self._n_frugal = 0
        self._idle: dict[int, list[_Block]] = {}
        self._types: dict[int, Any] = {}  # by size, a type of ctypes.Array
        # a lease may die in the midst of take(), when the garbage collector runs there: the same thread comes again
        self._lock = threading.RLock()

    def take(self, shape: Sequence[int], strides: Sequence[int], dtype: np.dtype, nbytes: int) -> np.ndarray:
        """An array of undefined values, aligned; strides in bytes, none negative, that reach over `nbytes`."""
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
        return np.ndarray(shape, dtype, lease, 0, strides)

    def _new_block(self, size: int) -> _Block:
        if size not in self._types:
            self._types[size] = _lease_type(size, self._give_back)
        self.made_blocks += 1
        memory, start = aligned_memory(size)
        return memory, address_of(memory) + start

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
        """A block in which hardly anything lies idle: what is done once is better slow than large."""
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
        """Give all idle memory back to the system; how many bytes that was."""
        with self._lock:
            idle, self._idle = self._idle, {}
            released, self.idle_bytes = self.idle_bytes, 0
        del idle
        if _trim is not None:
            _trim(0)  # glibc keeps what was given back to it in pieces
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
