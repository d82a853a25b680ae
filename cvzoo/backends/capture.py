"""CUDA graphs: GPU work captured once and replayed by one launch, on the same memory.

Work is warmed up first, on the capturing stream and with memory from the common pool, so that everything that is
created once (compiled kernels, plans, reordered weights, workspaces) exists and persists. Allocations during the
capture come from a private pool, which graphs that never run concurrently share.
"""

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from cvzoo.backends.cuda.random_numbers import Recording, recording
from cvzoo.backends.cupy.library import CudaGraph, CudaPointer, CudaStream, Cupy, cupy
from cvzoo.backends.transfer import keeping_alive
from cvzoo.config.randomness import reserve_device_blocks

T = TypeVar("T")
_OUT_OF_MEMORY = 2  # cudaErrorMemoryAllocation, which CuPy has no name for


class NotCapturedError(Exception):
    """Work that cannot be captured as a CUDA graph; the message says why."""


class _Local(threading.local):
    def __init__(self) -> None:
        self.cupy: Cupy | None = None  # that the streams belong to; tests replace it
        self.streams: dict[int, CudaStream] = {}
        self.launches: dict[int, _LastLaunch] = {}
        self.pools: weakref.WeakValueDictionary[int, PrivatePool] = weakref.WeakValueDictionary()


_local = _Local()


def _stream() -> CudaStream:
    """The stream on which this thread captures for the current device."""
    xp = cupy()
    if _local.cupy is not xp:
        _local.__init__()  # type: ignore[misc]
        _local.cupy = xp
    device = xp.cuda.runtime.getDevice()
    stream = _local.streams.get(device)
    if stream is None:
        # the default stream cannot be captured, and a blocking one would synchronize with it, which breaks a capture
        stream = _local.streams[device] = xp.cuda.Stream(non_blocking=True)
    return stream


class PrivatePool:
    """Memory of graphs that are launched one after another, so that each may overwrite the previous one's values.

    Its free blocks must never be returned to the driver, since graphs write there at each launch. CuPy's pools return
    free blocks when the driver is out of memory or at a limit; therefore this one has no limit, and an out-of-memory
    condition is handled before CuPy notices it (`_from_driver`).
    """

    def __init__(self) -> None:
        self.memory = cupy().cuda.MemoryPool(_from_driver)
        self.memory.set_limit(size=0)  # CUPY_GPU_MEMORY_LIMIT may have set one

    @property
    def nbytes(self) -> int:
        """Its size in bytes."""
        return self.memory.total_bytes()


def _from_driver(size: int) -> CudaPointer:
    """A new block; if there is no memory, free blocks of the common pool are released first.

    Raises CuPy's OutOfMemoryError in a way that no pool releases its blocks.
    """
    block = _new_block(size)
    if block is None:
        cupy().get_default_memory_pool().free_all_blocks()
        block = _new_block(size)
    if block is None:
        raise cupy().cuda.memory.OutOfMemoryError(size, -1)
    return block


def _new_block(size: int) -> CudaPointer | None:
    cuda = cupy().cuda
    try:
        return cuda.MemoryPointer(cuda.Memory(size), 0)
    except cuda.runtime.CUDARuntimeError as error:
        if getattr(error, "status", None) != _OUT_OF_MEMORY:
            raise
        return None


class _LastLaunch:
    """This thread's last graph launch on a device."""

    def __init__(self) -> None:
        self.event = cupy().cuda.Event(disable_timing=True)
        self.stream: int | None = None


@contextlib.contextmanager
def one_after_another() -> Iterator[None]:
    """A context in which a graph of this thread is launched on the current device and its results are used.

    If the last launch was on another stream, the GPU waits for it: a thread's graphs share memory, and the workspaces
    of the stream on which they were captured.
    """
    xp = cupy()
    _stream()  # forgets what belongs to other GPUs
    device = xp.cuda.runtime.getDevice()
    last = _local.launches.get(device)
    if last is None:
        last = _local.launches[device] = _LastLaunch()
    stream = xp.cuda.get_current_stream()
    if last.stream is not None and last.stream != stream.ptr:
        stream.wait_event(last.event)
    try:
        yield
    finally:
        last.event.record(stream)
        last.stream = stream.ptr


def common_pool() -> PrivatePool:
    """The pool of this thread's graphs on the current device that hold no values between launches; it lives as long as
    one of them."""
    _stream()  # forgets those of other GPUs
    device = cupy().cuda.runtime.getDevice()
    pool = _local.pools.get(device)
    if pool is None:
        pool = _local.pools[device] = PrivatePool()
    return pool


class Captured(Generic[T]):
    """A captured graph. result: the result of the work: arrays that each launch overwrites."""

    def __init__(self, graph: CudaGraph, result: T, draws: Recording, pool: PrivatePool, constants: Sequence[object]):
        self.result = result
        self._graph = graph
        self._draws = draws
        # kept alive as long as the graph: its memory, and cached constants that it reads
        self._pool = pool
        self._constants = constants

    def has_the_seed(self) -> bool:
        """Whether random numbers can be drawn: this thread's seed is that of the capture, or none are drawn."""
        return not self._draws.drawn or self._draws.key == reserve_device_blocks(0)[0]

    def launch(self) -> None:
        """Launch the graph on the current stream, without synchronization.

        Raises GraphError if it draws random numbers and the seed was set since.
        """
        self._draws.before_replay()
        self._graph.launch()


def warmed_up(work: Callable[[], T]) -> T:
    """The result of the work, run on the capturing stream; synchronizes."""
    xp = cupy()
    xp.cuda.get_current_stream().synchronize()  # the work may read results of the caller's stream
    stream = _stream()
    with stream:
        result = work()
        stream.synchronize()
    return result


def captured(work: Callable[[], T], pool: PrivatePool) -> Captured[T]:
    """Captures the work as a graph without executing it.

    Raises NotCapturedError if it synchronizes with the GPU, copies to the host or does anything else that cannot be
    captured.
    """
    xp = cupy()
    xp.cuda.get_current_stream().synchronize()
    stream = _stream()
    with stream, recording() as draws, keeping_alive() as constants:
        stream.synchronize()
        try:
            with xp.cuda.using_allocator(pool.memory.malloc):
                stream.begin_capture()
                result = work()
                graph = stream.end_capture()
        except Exception as error:  # CUDA, CuPy or our own checks may raise
            _abandon(stream)
            raise NotCapturedError(_reason(error)) from error
        graph.upload(stream)  # here rather than in the first launch, whose time is thus that of all others
        stream.synchronize()
    return Captured(graph, result, draws, pool, constants)


def _abandon(stream: CudaStream) -> None:
    """Abort a failed capture; the stream is not used again."""
    _local.streams.pop(cupy().cuda.runtime.getDevice(), None)
    with contextlib.suppress(Exception):  # the failure is reported already; ending a broken capture may raise again
        stream.end_capture()


def _reason(error: BaseException) -> str:
    text = str(error).split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
