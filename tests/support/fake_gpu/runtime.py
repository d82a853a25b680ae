"""cupy.cuda: devices, the runtime's calls, allocators."""

import contextlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from fake_gpu import memory, streams
from fake_gpu.machine import CUDARuntimeError, machine


class Device:
    """Stands for cupy.cuda.Device."""

    def __init__(self, device: Any = None):
        if device is None:
            self.id = machine().here.device
        else:
            self.id = int(device.id if isinstance(device, Device) else device)
        self._before: list[int] = []

    def __int__(self) -> int:
        return self.id

    def __enter__(self) -> "Device":
        self._before.append(machine().here.device)
        set_device(self.id)
        return self

    def __exit__(self, *ignored: Any) -> None:
        machine().here.device = self._before.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def use(self) -> None:
        set_device(self.id)

    def synchronize(self) -> None:
        with Device(self.id):
            machine().sync_device("Device.synchronize")

    @property
    def compute_capability(self) -> str:
        return "90"

    @property
    def mem_info(self) -> tuple[int, int]:
        return 60 << 30, 80 << 30

    @property
    def attributes(self) -> dict[str, int]:
        return {"MultiProcessorCount": 132, "MaxSharedMemoryPerBlockOptin": 232448, "WarpSize": 32}


def set_device(index: int) -> None:
    """Make a device current. Raises CUDARuntimeError if there is none."""
    if not 0 <= index < machine().devices:
        raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
    machine().here.device = index


def properties(index: int) -> dict[str, Any]:
    """What the runtime says of a device."""
    if not 0 <= index < machine().devices:
        raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
    return {
        "name": b"Fake GPU",
        "major": 9,
        "minor": 0,
        "multiProcessorCount": 132,
        "totalGlobalMem": 80 << 30,
        "sharedMemPerBlockOptin": 232448,
        "warpSize": 32,
        "pciBusID": index,
    }


_TO_DEVICE, _TO_HOST, _ON_DEVICE = 1, 2, 3
_KINDS = {_TO_DEVICE: "h2d", _TO_HOST: "d2h", _ON_DEVICE: "d2d"}


def memcpy_async(dst: int, src: int, size: int, kind: int, stream: int) -> None:
    """Copy between addresses, in a stream's order; a graph keeps it."""
    to, come = memory.host_bytes(int(dst), size), memory.host_bytes(int(src), size)
    machine().run("memcpyAsync", lambda: np.copyto(to, come), kind=_KINDS[kind], size=size, stream=stream)


def memcpy(dst: int, src: int, size: int, kind: int) -> None:
    """Copy and wait."""
    machine().refuse_in_capture("memcpy")
    memcpy_async(dst, src, size, kind, machine().stream().ptr)
    machine().sync("memcpy")


def memcpy_peer_async(dst: int, dst_device: int, src: int, src_device: int, size: int, stream: int) -> None:
    """Copy between devices."""
    to, come = memory.host_bytes(int(dst), size), memory.host_bytes(int(src), size)
    machine().run("memcpyPeerAsync", lambda: np.copyto(to, come), kind="p2p", size=size, stream=stream)


def memset_async(ptr: int, value: int, size: int, stream: int) -> None:
    """Set bytes."""
    to = memory.host_bytes(int(ptr), size)
    machine().run("memsetAsync", lambda: to.fill(value & 0xFF), kind="memset", size=size, stream=stream)


def _can_access_peer(device: int, peer: int) -> int:
    return 0


def runtime_module() -> ModuleType:
    """Stands for cupy.cuda.runtime."""
    made = ModuleType("cupy.cuda.runtime")
    made.CUDARuntimeError = CUDARuntimeError
    made.getDeviceCount = lambda: machine().devices
    made.getDevice = lambda: machine().here.device
    made.setDevice = set_device
    made.getDeviceProperties = properties
    made.deviceGetPCIBusId = lambda device: f"0000:{properties(device)['pciBusID']:02X}:00.0"
    made.deviceSynchronize = lambda: machine().sync_device("deviceSynchronize")
    made.deviceCanAccessPeer = _can_access_peer
    made.streamSynchronize = lambda stream: machine().sync("streamSynchronize", stream)
    made.streamIsCapturing = lambda stream: machine().is_capturing(stream)
    made.memGetInfo = lambda: (60 << 30, 80 << 30)
    made.memcpy, made.memcpyAsync, made.memcpyPeerAsync = memcpy, memcpy_async, memcpy_peer_async
    made.memsetAsync = memset_async
    made.runtimeGetVersion = lambda: 13000
    made.driverGetVersion = lambda: 13000
    made.memcpyHostToDevice, made.memcpyDeviceToHost, made.memcpyDeviceToDevice = _TO_DEVICE, _TO_HOST, _ON_DEVICE
    made.streamCaptureModeGlobal, made.streamCaptureModeThreadLocal, made.streamCaptureModeRelaxed = 0, 1, 2
    made.is_hip = False
    return made


def set_allocator(allocator: Callable | None = None) -> None:
    """Where arrays' memory comes from, for all threads."""
    memories = machine().memories
    if memories.local.stack:
        raise ValueError("Cannot change the global allocator inside `using_allocator` context.")
    memories.allocator = memory.new_memory if allocator is None else allocator


@contextlib.contextmanager
def using_allocator(allocator: Callable | None = None) -> Iterator[None]:
    """Where this thread's arrays get their memory meanwhile."""
    stack = machine().memories.local.stack
    stack.append(memory.new_memory if allocator is None else allocator)
    try:
        yield
    finally:
        stack.pop()


def get_allocator() -> Callable:
    """Where memory comes from now."""
    memories = machine().memories
    return memories.local.stack[-1] if memories.local.stack else memories.allocator


def cuda_module() -> ModuleType:
    """Stands for cupy.cuda."""
    made = ModuleType("cupy.cuda")
    made.Device, made.runtime = Device, runtime_module()
    made.Stream, made.ExternalStream, made.Event, made.Graph = (
        streams.Stream,
        streams.ExternalStream,
        streams.Event,
        streams.Graph,
    )
    made.get_current_stream, made.get_elapsed_time = streams.get_current_stream, streams.get_elapsed_time
    made.MemoryPointer, made.UnownedMemory, made.MemoryPool = (
        memory.MemoryPointer,
        memory.UnownedMemory,
        memory.MemoryPool,
    )
    made.Memory = memory.Memory
    made.PinnedMemoryPool = memory.PinnedMemoryPool
    made.alloc = lambda size: machine().memories.alloc(size)
    made.alloc_pinned_memory = memory.PinnedMemoryPointer
    made.set_allocator, made.using_allocator, made.get_allocator = set_allocator, using_allocator, get_allocator
    made.get_device_id = lambda: machine().here.device
    made.is_available = lambda: machine().devices > 0
    stream = made.stream = ModuleType("cupy.cuda.stream")
    stream.get_current_stream, stream.Stream, stream.Event = streams.get_current_stream, streams.Stream, streams.Event
    place = made.memory = ModuleType("cupy.cuda.memory")
    place.OutOfMemoryError = memory.OutOfMemoryError
    place.MemoryPool, place.MemoryPointer, place.UnownedMemory = made.MemoryPool, made.MemoryPointer, made.UnownedMemory
    return made
