"""CuPy, imported when a GPU is first requested, and the part of its interface that is used.

CuPy has no type stubs. Its arrays are typed as NumPy's (`Array`), whose interface they have; what only they have is
read by `memory_of` here and by the functions of cvzoo.backends.arrays.
"""

import functools
import operator
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cvzoo.errors.exceptions import BackendError
from cvzoo.typing.aliases import Array, ArrayLike

HINT = 'pip install "cvzoo[cuda13]", or "cvzoo[cuda12]" for an older driver'


class CudaEvent(Protocol):
    """cupy.cuda.Event."""

    def record(self, stream: "CudaStream | None" = None) -> None: ...
    def synchronize(self) -> None: ...


class CudaGraph(Protocol):
    """cupy.cuda.Graph."""

    def launch(self) -> None: ...
    def upload(self, stream: "CudaStream") -> None: ...


class CudaStream(AbstractContextManager["CudaStream"], Protocol):
    """cupy.cuda.Stream; ptr: its address."""

    ptr: int

    def synchronize(self) -> None: ...
    def wait_event(self, event: CudaEvent) -> None: ...
    def is_capturing(self) -> bool: ...
    def begin_capture(self) -> None: ...
    def end_capture(self) -> CudaGraph: ...


class CudaMemory(Protocol):
    """cupy.cuda.BaseMemory; size: in bytes."""

    size: int


class CudaPointer(Protocol):
    """cupy.cuda.MemoryPointer; ptr: an address; mem: the allocation that it is in."""

    ptr: int
    mem: CudaMemory

    def __add__(self, offset: int) -> "CudaPointer": ...
    def copy_from_host_async(self, address: int, size: int, stream: CudaStream) -> None: ...
    def copy_to_host_async(self, address: int, size: int, stream: CudaStream) -> None: ...
    def copy_from_device_async(self, source: "CudaPointer", size: int, stream: CudaStream) -> None: ...


Allocator = Callable[[int], CudaPointer]  # of a size in bytes


class CudaPool(Protocol):
    """cupy.cuda.MemoryPool."""

    def malloc(self, size: int) -> CudaPointer: ...
    def free_all_blocks(self) -> None: ...
    def set_limit(self, size: int) -> None: ...
    def total_bytes(self) -> int: ...


class CudaDevice(AbstractContextManager["CudaDevice"], Protocol):
    """cupy.cuda.Device; id: its index."""

    id: int

    def synchronize(self) -> None: ...


class CudaKernel(Protocol):
    """cupy.RawKernel: called with the grid, the block and the arguments, it launches."""

    max_dynamic_shared_size_bytes: int

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...], *, shared_mem: int
    ) -> None: ...


class CudaModule(Protocol):
    """cupy.RawModule: compiled CUDA C."""

    def get_function(self, name: str) -> CudaKernel: ...


class CudaRuntime(Protocol):
    """cupy.cuda.runtime."""

    CUDARuntimeError: type[Exception]

    def getDevice(self) -> int: ...
    def getDeviceCount(self) -> int: ...
    def getDeviceProperties(self, device: int) -> dict[str, Any]: ...
    def runtimeGetVersion(self) -> int: ...
    def driverGetVersion(self) -> int: ...


class Cuda(Protocol):
    """cupy.cuda."""

    runtime: CudaRuntime
    memory: Any  # a module, of which OutOfMemoryError is used

    def Device(self, device: int | None = None) -> CudaDevice: ...
    def Event(self, *, disable_timing: bool = False) -> CudaEvent: ...
    def Memory(self, size: int) -> CudaMemory: ...
    def MemoryPointer(self, mem: CudaMemory, offset: int) -> CudaPointer: ...
    def MemoryPool(self, allocator: Allocator) -> CudaPool: ...
    def Stream(self, *, non_blocking: bool = False) -> CudaStream: ...
    def alloc_pinned_memory(self, size: int) -> memoryview: ...
    def get_current_stream(self) -> CudaStream: ...
    def get_elapsed_time(self, start: CudaEvent, end: CudaEvent) -> float: ...
    def using_allocator(self, allocator: Allocator) -> AbstractContextManager[None]: ...


Shape = int | Sequence[int]


class Cupy(Protocol):
    """cupy; the functions have NumPy's meaning."""

    __version__: str
    cuda: Cuda
    ndarray: type[Any]  # typed as NumPy's by `Array`, but its third argument is a MemoryPointer

    add: np.ufunc

    def ElementwiseKernel(
        self, in_params: str, out_params: str, operation: str, name: str
    ) -> Callable[..., Array | tuple[Array, ...]]: ...
    def ReductionKernel(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: str,
        name: str,
    ) -> Callable[..., Array]: ...
    def RawModule(self, *, code: str, options: tuple[str, ...], backend: str) -> CudaModule: ...
    def abs(self, x: Array) -> Array: ...
    def all(self, x: Array) -> Array: ...
    def arange(self, stop: int, *, dtype: npt.DTypeLike) -> Array: ...
    def array(self, values: ArrayLike, dtype: npt.DTypeLike | None = None) -> Array: ...
    def asarray(self, values: ArrayLike, dtype: npt.DTypeLike | None = None) -> Array: ...
    def ascontiguousarray(self, x: Array, dtype: npt.DTypeLike | None = None) -> Array: ...
    def broadcast_to(self, x: Array, shape: tuple[int, ...]) -> Array: ...
    def empty(self, shape: Shape, dtype: npt.DTypeLike) -> Array: ...
    def empty_like(self, x: Array) -> Array: ...
    def from_dlpack(self, source: object) -> Array: ...
    def get_default_memory_pool(self) -> CudaPool: ...
    def isfinite(self, x: Array) -> Array: ...
    def matmul(self, a: Array, b: Array) -> Array: ...
    def maximum(self, a: Array, b: Array | float) -> Array: ...
    def moveaxis(self, x: Array, source: int, destination: int) -> Array: ...
    def multiply(self, a: Array, b: Array) -> Array: ...
    def ones(self, shape: Shape, dtype: npt.DTypeLike) -> Array: ...
    def stack(self, arrays: Sequence[Array]) -> Array: ...
    def where(self, condition: Array, x: ArrayLike, y: ArrayLike) -> Array: ...
    def zeros(self, shape: Shape, dtype: npt.DTypeLike) -> Array: ...


memory_of: Callable[[Array], CudaPointer] = operator.attrgetter("data")  # a cupy.ndarray's memory


@functools.cache
def why_no_cupy() -> str | None:
    """Why CuPy cannot compute here, or None if it can."""
    try:
        import cupy
        import cupy.cuda
    except ImportError as error:
        return f"CuPy cannot be imported ({error})"
    except Exception as error:  # broken installations of CUDA's libraries raise errors of many classes
        return f"CuPy does not start ({type(error).__name__}: {error})"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:
        return f"CUDA finds no GPU ({error})"
    return None if count else "CUDA finds no GPU"


@functools.cache
def cupy() -> Cupy:
    """The module. Raises BackendError with the reason if it cannot be used, and how to install it."""
    reason = why_no_cupy()
    if reason is not None:
        raise BackendError(f"no GPU can be used here: {reason}", hint=HINT)
    module: Any = sys.modules["cupy"]
    return module


def forget() -> None:
    """Clear the cached search: for tests, and after CuPy was installed."""
    why_no_cupy.cache_clear()
    cupy.cache_clear()
