"""Memory of made-up devices: full of NaN when it is new, with guards around it."""

import ctypes
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from fake_gpu.machine import CUDARuntimeError, FakeGpuError, is_there, machine

GARBAGE = 0xFF  # NaN in every float, -1 in every signed integer
GUARD = 0xA5
OUT_OF_MEMORY = 2  # CUDA's number for it
_ROOM = 512  # bytes of guard at each side, and what blocks are aligned to


class Memory:
    """A block as the driver gives it."""

    def __init__(self, size: int):
        here = machine()
        self.device_id = here.here.device
        self.size = size
        if here.capacity is not None:
            taken = sum(each.size for each in here.memory if each.device_id == self.device_id)
            if taken + size > here.capacity:
                raise CUDARuntimeError("cudaErrorMemoryAllocation: out of memory", OUT_OF_MEMORY)
        self._whole = np.empty(size + 3 * _ROOM, np.uint8)
        start = -self._whole.ctypes.data % _ROOM + _ROOM
        self.raw = self._whole[start : start + size]
        self._guards = (self._whole[start - _ROOM : start], self._whole[start + size : start + size + _ROOM])
        for guard in self._guards:
            guard[:] = GUARD
        self.raw[:] = GARBAGE
        self.ptr = int(self._whole.ctypes.data) + start
        self._machine = weakref.ref(here)
        self.is_captured = False  # graphs may share it: what one leaves there, another may overwrite
        here.memory.add(self)
        here.record("alloc", "cudaMalloc", size)

    @property
    def device(self) -> Any:
        from fake_gpu.runtime import Device

        return Device(self.device_id)

    def check(self) -> None:
        """Raise FakeGpuError if somebody wrote before or behind the block."""
        for side, guard in zip(("before", "behind"), self._guards):
            if not (guard == GUARD).all():
                raise FakeGpuError(f"somebody wrote {side} a block of {self.size} bytes on device {self.device_id}")

    def __del__(self) -> None:
        there = self._machine() if hasattr(self, "_machine") else None
        if there is None:
            return
        try:
            self.check()
        except FakeGpuError as error:
            there.broken.append(str(error))


class UnownedMemory:
    """Memory that somebody else holds."""

    def __init__(self, ptr: int, size: int, owner: Any, device_id: int = -1):
        self.ptr = ptr
        self.size = size
        self._owner = owner
        self.device_id = machine().here.device if device_id < 0 else device_id
        self.raw = np.frombuffer((ctypes.c_uint8 * size).from_address(ptr), np.uint8) if size else np.empty(0, np.uint8)

    @property
    def device(self) -> Any:
        from fake_gpu.runtime import Device

        return Device(self.device_id)


class PooledMemory:
    """A block of a pool's, which gets it back."""

    def __init__(self, chunk: Memory, pool: "MemoryPool", stream: int, wanted: int):
        self.chunk = chunk
        self.ptr = chunk.ptr
        self.size = chunk.size
        self.device_id = chunk.device_id
        self.raw = chunk.raw
        self.device = chunk.device
        self._wanted = wanted
        self._stream = stream
        self._pool = weakref.ref(pool)

    def free(self) -> None:
        pool = self._pool()
        chunk, self.chunk = self.chunk, None
        if chunk is None or pool is None:
            return
        if is_there() and machine() is chunk._machine() and not machine().late:
            if not chunk.is_captured and not (chunk.raw[self._wanted :] == GARBAGE).all():
                machine().broken.append(f"somebody wrote behind {self._wanted} bytes on device {chunk.device_id}")
            chunk.raw[:] = GARBAGE  # who reads it from now on reads NaN
        pool._give_back(chunk, self._stream)

    def __del__(self) -> None:
        self.free()


class MemoryPointer:
    """A place in a block."""

    def __init__(self, mem: Any, offset: int):
        self.mem = mem
        self.offset = offset
        self.ptr = mem.ptr + offset
        self.device_id = mem.device_id

    @property
    def device(self) -> Any:
        return self.mem.device

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, offset: int) -> "MemoryPointer":
        return MemoryPointer(self.mem, self.offset + int(offset))

    __radd__ = __add__

    def __sub__(self, offset: int) -> "MemoryPointer":
        return MemoryPointer(self.mem, self.offset - int(offset))

    def _bytes(self, size: int) -> np.ndarray:
        if self.offset < 0 or self.offset + size > self.mem.size:
            raise FakeGpuError(f"{size} bytes at {self.offset} of a block of {self.mem.size}")
        return self.mem.raw[self.offset : self.offset + size]

    def _touches(self) -> tuple:
        return touched(self.mem)

    def copy_from_device_async(self, src: "MemoryPointer", size: int, stream: Any = None) -> None:
        if not size:
            return
        to, come = self._bytes(size), src._bytes(size)
        kind = "d2d" if src.device_id == self.device_id else "p2p"
        machine().run(
            "memcpyAsync",
            lambda: np.copyto(to, come),
            kind=kind,
            size=size,
            stream=_ptr(stream),
            touches=self._touches() + src._touches(),
        )

    def copy_from_device(self, src: "MemoryPointer", size: int) -> None:
        machine().refuse_in_capture("copy_from_device")
        self.copy_from_device_async(src, size)

    def copy_from_host_async(self, mem: Any, size: int, stream: Any = None) -> None:
        machine().refuse_in_capture("a copy from the host by CuPy", _ptr(stream))
        to, come = self._bytes(size), host_bytes(mem, size)
        machine().run("memcpyAsync", lambda: np.copyto(to, come), kind="h2d", size=size, stream=_ptr(stream))

    def copy_from_host(self, mem: Any, size: int) -> None:
        self.copy_from_host_async(mem, size)
        machine().sync("memcpy")

    def copy_to_host_async(self, mem: Any, size: int, stream: Any = None) -> None:
        machine().refuse_in_capture("a copy to the host by CuPy", _ptr(stream))
        to, come = host_bytes(mem, size), self._bytes(size)
        machine().run("memcpyAsync", lambda: np.copyto(to, come), kind="d2h", size=size, stream=_ptr(stream))

    def copy_to_host(self, mem: Any, size: int) -> None:
        self.copy_to_host_async(mem, size)
        machine().sync("memcpy")

    def copy_from_async(self, mem: Any, size: int, stream: Any = None) -> None:
        if isinstance(mem, MemoryPointer):
            self.copy_from_device_async(mem, size, stream)
        else:
            self.copy_from_host_async(mem, size, stream)

    def copy_from(self, mem: Any, size: int) -> None:
        if isinstance(mem, MemoryPointer):
            self.copy_from_device(mem, size)
        else:
            self.copy_from_host(mem, size)

    def memset_async(self, value: int, size: int, stream: Any = None) -> None:
        to = self._bytes(size)
        machine().run(
            "memsetAsync",
            lambda: to.fill(value & 0xFF),
            kind="memset",
            size=size,
            stream=_ptr(stream),
            touches=self._touches(),
        )

    def memset(self, value: int, size: int) -> None:
        machine().refuse_in_capture("memset")
        self.memset_async(value, size)


def touched(mem: Any) -> tuple:
    """The driver's blocks behind a piece of memory, which a graph must find alive."""
    chunk = mem.chunk if isinstance(mem, PooledMemory) else mem
    return (chunk,) if isinstance(chunk, Memory) else ()


def host_bytes(mem: Any, size: int) -> np.ndarray:
    """Bytes of the host at an address (or c_void_p, or a pinned pointer)."""
    address = mem.value if isinstance(mem, ctypes.c_void_p) else int(getattr(mem, "ptr", mem))
    if not size:
        return np.empty(0, np.uint8)
    return np.frombuffer((ctypes.c_uint8 * size).from_address(address), np.uint8)


def _ptr(stream: Any) -> int | None:
    return None if stream is None else stream.ptr


class MemoryPool:
    """Blocks of all devices, kept for later; a block goes back to the stream that it was taken on."""

    def __init__(self, allocator: Callable | None = None):
        self._allocator = allocator
        self._free: dict[tuple[int, int, int], list[Memory]] = {}
        self._used = 0
        self._total = 0
        self._device_bytes: dict[int, list[int]] = {}
        self._limit = int(os.environ.get("CUPY_GPU_MEMORY_LIMIT", "0"))

    def _counts(self, device: int) -> list[int]:
        return self._device_bytes.setdefault(device, [0, 0])  # used, total

    def malloc(self, size: int) -> MemoryPointer:
        here = machine()
        rounded = -(-size // 512) * 512
        if not rounded:
            return MemoryPointer(Memory(0), 0)
        state = here.stream()
        free = self._free.get((state.device, state.ptr, rounded))
        counts = self._counts(state.device)
        if free:
            chunk = free.pop()
        else:
            if self._limit and counts[1] + rounded > self._limit:
                self.free_all_blocks()
            if self._limit and counts[1] + rounded > self._limit:
                raise OutOfMemoryError(rounded, counts[1], self._limit)
            chunk = self._from_driver(rounded)
            counts[1] += rounded
        counts[0] += rounded
        if state.capture is not None:  # a replay finds what other nodes left in the block
            raw = chunk.raw
            chunk.is_captured = True
            here.run("new memory", lambda: raw.fill(GARBAGE), kind="alloc", size=rounded, touches=(chunk,))
        return MemoryPointer(PooledMemory(chunk, self, state.ptr, size), 0)

    def _from_driver(self, size: int) -> Memory:
        """As CuPy's: when the driver has no more, all free blocks are given back, and it is asked again."""
        allocator = self._allocator or new_memory
        for last in (False, True):
            try:
                return allocator(size).mem
            except CUDARuntimeError as error:
                if error.status != OUT_OF_MEMORY:
                    raise
                if last:
                    raise OutOfMemoryError(size, self.total_bytes(), self._limit) from None
                self.free_all_blocks()
        raise AssertionError

    def _give_back(self, chunk: Memory, stream: int) -> None:
        self._counts(chunk.device_id)[0] -= chunk.size
        self._free.setdefault((chunk.device_id, stream, chunk.size), []).append(chunk)

    def free_all_blocks(self, stream: Any = None) -> None:
        device = machine().here.device
        for key in list(self._free):
            if key[0] == device and (stream is None or key[1] == stream.ptr):
                for chunk in self._free.pop(key):
                    self._counts(device)[1] -= chunk.size

    def used_bytes(self) -> int:
        return self._counts(machine().here.device)[0]

    def total_bytes(self) -> int:
        return self._counts(machine().here.device)[1]

    def free_bytes(self) -> int:
        return self.total_bytes() - self.used_bytes()

    def n_free_blocks(self) -> int:
        device = machine().here.device
        return sum(len(blocks) for key, blocks in self._free.items() if key[0] == device)

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        self._limit = size or 0

    def get_limit(self) -> int:
        return self._limit


class OutOfMemoryError(MemoryError):
    """No room is left."""

    def __init__(self, size: int, total: int, limit: int = 0):
        super().__init__(
            f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes, limit {limit:,})"
        )


class PinnedMemoryPointer(bytearray):
    """A place in page-locked memory of the host."""

    def __init__(self, size: int):
        super().__init__(bytes([GARBAGE]) * size)
        self.ptr = ctypes.addressof((ctypes.c_uint8 * size).from_buffer(self)) if size else 0
        pinned[self.ptr] = size

    def size(self) -> int:
        return len(self)

    def __del__(self) -> None:
        if pinned is not None:  # as it is while the interpreter ends
            pinned.pop(self.ptr, None)


pinned: dict[int, int] = {}  # address: bytes of the host's memory that copies may run from and to meanwhile


def is_pinned(array: np.ndarray) -> bool:
    """Whether an array of the host lies in page-locked memory."""
    address = array.ctypes.data
    return any(start <= address and address + array.nbytes <= start + size for start, size in pinned.items())


class PinnedMemoryPool:
    """Page-locked memory."""

    def malloc(self, size: int) -> PinnedMemoryPointer:
        return PinnedMemoryPointer(size)

    def free_all_blocks(self) -> None:
        pass

    def n_free_blocks(self) -> int:
        return 0


def new_memory(size: int) -> MemoryPointer:
    """A block straight from the driver: what `cupy.cuda.memory._malloc` does."""
    return MemoryPointer(Memory(size), 0)


class Allocators(threading.local):
    """Where arrays' memory comes from: the default pool, or what a thread has asked for."""

    def __init__(self) -> None:
        self.stack: list[Callable] = []


class Memories:
    """The allocators of one machine."""

    def __init__(self) -> None:
        self.default_pool = MemoryPool()
        self.pinned_pool = PinnedMemoryPool()
        self.allocator: Callable = self.default_pool.malloc
        self.local = Allocators()

    def alloc(self, size: int) -> MemoryPointer:
        allocator = self.local.stack[-1] if self.local.stack else self.allocator
        made = allocator(size)
        if made.device_id != machine().here.device:
            raise CUDARuntimeError("the allocator gave memory of another device")
        return made
