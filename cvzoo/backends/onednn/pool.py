"""The memory pool for kernels' results: aligned blocks, reused if large, since page faults are expensive.

All results of oneDNN are allocated here. For results larger than the cache, kernels may use non-temporal stores, which
fault unless the result is aligned to 64 bytes: those of resampling do.

A new array of 25 MB causes 6,400 page faults: several milliseconds. So the memory of a large array without references
is kept for the next ones. Blocks are cut from long segments, the smallest sufficient gap first, and freed neighbors are
joined: what a network needs at its peak is about all that is ever kept, whatever the sizes of its arrays. Such an array
is a plain numpy.ndarray; its base is a lease that returns the memory to the pool when the last view of it is freed.

CVZOO_MEMORY_POOL: limit of idle memory in megabytes; 0 turns the pool off. Default: an eighth of the machine's memory.
Beyond the limit, the largest gaps are returned to the system.
"""

import bisect
import collections
import contextlib
import ctypes
import functools
import mmap
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.errors.exceptions import ConfigError

ALIGNMENT = 64  # bytes; a cache line, and the widest instructions
_SMALLEST = 1 << 16
_LAZY = 1 << 20  # bytes; smaller freed blocks are added to the gaps later
_MOST_FREED = 32
_SEGMENT = 1 << 29  # bytes of address space; memory is only taken for what was used
_PRIVATE: dict[str, Any] = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
_BYTE = np.dtype(np.uint8)


def aligned_memory(nbytes: int) -> tuple[np.ndarray, int]:
    """Fresh memory as (N,) uint8 of undefined values, and the offset of `nbytes` aligned bytes in it."""
    memory = np.empty(nbytes + ALIGNMENT, _BYTE)
    return memory, -numpy_address(memory) % ALIGNMENT


@functools.cache
def _memory_type(n_line: int) -> type:
    """The ctypes type of small arrays' memory, which is twice as fast as a base as a NumPy array is."""
    size = (n_line + 1) * ALIGNMENT
    return type("Memory", (ctypes.Array,), {"_type_": ctypes.c_ubyte, "_length_": size})


def _lease_type(size: int, give_back: Callable[["_Block"], None]) -> Any:
    def release(lease: Any) -> None:
        give_back(lease.block)

    return type("Lease", (ctypes.Array,), {"_type_": ctypes.c_ubyte, "_length_": size, "__del__": release})


def _size_class(nbytes: int) -> int:
    """The next of 32 sizes an octave, as each size has a type of its own; at most 3 per cent of a block are unused."""
    shift = max((nbytes - 1).bit_length() - 6, 6)
    return (((nbytes - 1) >> shift) + 1) << shift


def _limit_of_this_machine() -> int:
    asked = os.environ.get("CVZOO_MEMORY_POOL")
    if asked:
        if not asked.isdigit():
            raise ConfigError("CVZOO_MEMORY_POOL must be a number of megabytes", got=repr(asked))
        return int(asked) << 20
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8


class _Segment:
    """Consecutive memory from which blocks are cut.

    used: bytes from the start that may be resident; behind them is fresh memory
    gaps: free ranges among them, in order: where they begin and end, and whether their memory is resident
    """

    __slots__ = ("_memory", "gaps", "size", "start", "used")

    def __init__(self, size: int):
        self._memory = mmap.mmap(-1, size, **_PRIVATE)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):  # a system without large pages
                self._memory.madvise(mmap.MADV_HUGEPAGE)
        self.start = numpy_address(np.frombuffer(self._memory, _BYTE))
        self.size = size
        self.used = 0
        self.gaps: list[tuple[int, int, bool]] = []

    def discard(self, begin: int, end: int) -> None:
        """Return the whole pages of a range to the system."""
        begin, end = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE, end // mmap.PAGESIZE * mmap.PAGESIZE
        if begin < end and hasattr(mmap, "MADV_DONTNEED"):
            with contextlib.suppress(OSError):  # memory that the program has locked stays
                self._memory.madvise(mmap.MADV_DONTNEED, begin, end - begin)


_Block = tuple[_Segment, int, int]  # where it begins, and its size


def _lease_of(
    lease_type: Any, block: _Block, shape: Sequence[int], strides: Sequence[int], dtype: np.dtype
) -> np.ndarray:
    lease = lease_type.from_address(block[0].start + block[1])
    lease.block = block
    # the array's base is the lease, which returns the block when the last view is freed
    return np.ndarray(shape, dtype, lease, 0, strides)


class Pool:
    """A thread-safe memory pool for arrays.

    limit: the most idle bytes
    most_bytes: the largest sum of `live_bytes` and `idle_bytes` so far
    made_blocks: how many blocks are not from idle memory
    """

    def __init__(self, limit: int):
        self.limit = limit
        self.most_bytes = 0
        self._live = self._idle = 0
        self.made_blocks = 0
        self._segments: list[_Segment] = []
        self._types: dict[int, Any] = {}  # by size, a type of ctypes.Array
        # reentrant, as it tells then whether this thread has it; only in `with`, which no interrupt leaves locked
        self._lock = threading.RLock()
        # freed blocks, until somebody adds them to the gaps: the garbage collector may free one anywhere
        self._freed: collections.deque[_Block] = collections.deque()

    def take(self, shape: Sequence[int], strides: Sequence[int], dtype: np.dtype, nbytes: int) -> np.ndarray:
        """An aligned array of undefined values; strides: in bytes, none negative, spanning `nbytes`."""
        if nbytes < _SMALLEST:
            memory = _memory_type((nbytes + ALIGNMENT - 1) // ALIGNMENT)()
            return np.ndarray(shape, dtype, memory, -ctypes.addressof(memory) % ALIGNMENT, strides)
        if self.limit == 0:
            return np.ndarray(shape, dtype, *aligned_memory(nbytes), strides)
        size = _size_class(nbytes)
        lease_type = self._types.get(size)
        if lease_type is None:
            lease_type = self._types.setdefault(size, _lease_type(size, self._give_back))
        if size < _LAZY and self._freed:
            with contextlib.suppress(IndexError):  # another thread was faster
                block = self._freed.pop()
                if block[2] == size:  # most often the one that was just freed
                    return _lease_of(lease_type, block, shape, strides, dtype)
                self._freed.append(block)
        if self._is_at_work():  # the garbage collector came by below, and calls a finalizer
            return np.ndarray(shape, dtype, *aligned_memory(nbytes), strides)
        with self._lock:
            self._collect()
            segment, begin = self._cut(size)
            self._live += size
            self.most_bytes = max(self.most_bytes, self._live + self._idle)
        return _lease_of(lease_type, (segment, begin, size), shape, strides, dtype)

    def _cut(self, size: int) -> tuple[_Segment, int]:
        """A block of the smallest gap that is large enough; of fresh memory if there is none."""
        best: tuple[int, _Segment, int] | None = None
        for segment in self._segments:
            for k, (begin, end, _) in enumerate(segment.gaps):
                if end - begin >= size and (best is None or end - begin < best[0]):
                    best = end - begin, segment, k
        if best is not None:
            _, segment, k = best
            begin, end, is_resident = segment.gaps[k]
            segment.gaps[k : k + 1] = [(begin + size, end, is_resident)] if end - begin > size else []
            self._idle -= size if is_resident else 0
            self.made_blocks += not is_resident
            return segment, begin
        self.made_blocks += 1
        for segment in self._segments:
            # a gap at the end is a beginning
            has_gap = bool(segment.gaps) and segment.gaps[-1][1] == segment.used
            begin = segment.gaps[-1][0] if has_gap else segment.used
            if begin + size <= segment.size:
                if has_gap:
                    _, end, is_resident = segment.gaps.pop()
                    self._idle -= end - begin if is_resident else 0
                segment.used = begin + size
                return segment, begin
        try:
            segment = _Segment(max(size, _SEGMENT))
        except (OSError, MemoryError):  # address space is limited
            segment = _Segment(size)
        segment.used = size
        self._segments.append(segment)
        return segment, 0

    @property
    def idle_bytes(self) -> int:
        """Bytes of resident memory without references."""
        self._collect_unless_busy()
        return self._idle

    @property
    def live_bytes(self) -> int:
        """Bytes of all arrays' blocks."""
        self._collect_unless_busy()
        return self._live

    def _give_back(self, block: _Block) -> None:
        self._freed.append(block)
        if block[2] >= _LAZY or len(self._freed) > _MOST_FREED:
            self._collect_unless_busy()

    def _is_at_work(self) -> bool:
        """Whether this thread is within one of the methods below, in a finalizer."""
        return self._lock._is_owned()  # type: ignore[attr-defined]  # which threading.Condition uses, too

    def _collect_unless_busy(self) -> None:
        """Add freed blocks to the gaps, unless this thread is doing so, or will."""
        if self._freed and not self._is_at_work():
            with self._lock:
                self._collect()

    def _collect(self) -> None:
        while self._freed:
            segment, begin, size = self._freed.popleft()
            self._live -= size
            self._idle += size
            end, gaps = begin + size, segment.gaps
            k = bisect.bisect(gaps, (begin,))
            if k < len(gaps) and gaps[k][0] == end:
                _, end, is_resident = gaps.pop(k)
                self._idle += 0 if is_resident else end - begin - size
            if k and gaps[k - 1][1] == begin:
                k -= 1
                first, _, is_resident = gaps.pop(k)
                self._idle += 0 if is_resident else begin - first
                begin = first
            gaps.insert(k, (begin, end, True))
            while self._idle > self.limit:
                self._shrink()

    def _shrink(self) -> None:
        """Return the largest gap's memory to the system; there is none only if an interrupt left a wrong sum."""
        sizes = [
            (end - begin, s, k)
            for s, segment in enumerate(self._segments)
            for k, (begin, end, is_resident) in enumerate(segment.gaps)
            if is_resident
        ]
        if not sizes:
            self._idle = 0
            return
        size, s, k = max(sizes)
        segment = self._segments[s]
        begin, end, _ = segment.gaps[k]
        segment.discard(begin, end)
        self._idle -= size
        if end < segment.used:
            segment.gaps[k] = begin, end, False
            return
        del segment.gaps[k]  # the last one, whose memory is fresh from now on
        segment.used = begin
        if not segment.used:
            del self._segments[s]

    def release(self) -> int:
        """Return all idle memory to the system; returns its size in bytes."""
        with self._lock:
            self._collect()
            released = self._idle
            while self._idle:
                self._shrink()
        self._collect_unless_busy()
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
