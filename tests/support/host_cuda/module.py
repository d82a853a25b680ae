"""Kernels of a source, launched on the host."""

import contextlib
import ctypes
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from host_cuda.compiler import HostCudaError, build
from host_cuda.subnormals import flushed_subnormals

ORDERS = ("forward", "reverse", "shuffled")
_FAULTS = {
    1: "a thread left the kernel before a barrier at which others of its block wait",
    2: "threads wait for each other for ever: a barrier or a shuffle that not all of them reach",
    3: "the kernel trapped",
    4: "no memory for stacks",
}
_MOST_THREADS = 1024
_MOST_SHARED = 227 << 10
_MOST_PARAMETERS = 4096
_order = ["forward"]
_loaded: dict[str, "HostModule"] = {}


@contextlib.contextmanager
def thread_order(order: str) -> Iterator[None]:
    """All launches inside take blocks' threads "forward", in "reverse" or "shuffled" (blocks last first for both).

    A kernel that lacks a barrier, or leans on the order of blocks, gives other bits in another order.
    """
    if order not in ORDERS:
        raise ValueError(f"order is one of {ORDERS}, not {order!r}")
    _order.append(order)
    try:
        yield
    finally:
        _order.pop()


class HostModule:
    """The kernels of `source`: whole CUDA C text with `extern "C" __global__ void name(...)` in it.

    Texts are compiled once a machine. Raises HostCudaError with the compiler's words if the source is wrong.
    """

    def __new__(cls, source: str) -> "HostModule":
        module = _loaded.get(source)
        if module is None:
            module = super().__new__(cls)
            path, names = build(source)
            # PyDLL holds the interpreter's lock: the place of the running thread is one for the whole library
            module._library = ctypes.PyDLL(str(path))
            module.names = names
            module._signatures = {}
            _loaded[source] = module
        return module

    def signature(self, name: str) -> tuple[str, ...]:
        """For each argument of a kernel its kind and size in bytes: p8 pointer, i4, u8, f4, b1, V12 struct, ..."""
        found = self._signatures.get(name)
        if found is None:
            if name not in self.names:
                raise HostCudaError(f"there is no kernel {name!r}; there are {', '.join(self.names)}")
            text = ctypes.create_string_buffer(4096)
            self._library[f"host_cuda_signature_{name}"](text)
            found = self._signatures[name] = tuple(text.value.decode().split())
        return found

    def launch(
        self, name: str, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], *, shared: int = 0
    ) -> None:
        """Run a kernel on every thread of every block.

        args: for a pointer an address (int), a NumPy array or None; for anything else a NumPy scalar of its very type
        shared: bytes of dynamic shared memory, full of 0xff when a block begins
        """
        grid, block = _sizes(name, "grid", grid), _sizes(name, "block", block)
        if math.prod(block) > _MOST_THREADS or block[2] > 64:
            raise HostCudaError(f"{name}: a block of {block} has more than {_MOST_THREADS} threads, or 64 layers")
        if grid[0] > 2**31 - 1 or max(grid[1:]) > 65535:
            raise HostCudaError(f"{name}: a grid of {grid} is larger than devices allow (2**31 - 1, 65535, 65535)")
        if not 0 <= shared <= _MOST_SHARED:
            raise HostCudaError(f"{name}: {shared} bytes of shared memory are more than a device has")
        kinds = self.signature(name)
        if len(args) != len(kinds):
            raise HostCudaError(f"{name} takes {len(kinds)} arguments ({' '.join(kinds)}), got {len(args)}")
        if sum(int(kind[1:]) for kind in kinds) > _MOST_PARAMETERS:
            raise HostCudaError(f"{name}: its arguments are more than {_MOST_PARAMETERS} bytes")
        values = [_bytes(name, k, kind, value) for k, (kind, value) in enumerate(zip(kinds, args))]
        buffers = [ctypes.create_string_buffer(value, len(value)) for value in values]
        pointers = (ctypes.c_void_p * max(len(buffers), 1))(*[ctypes.addressof(b) for b in buffers])
        with flushed_subnormals():
            fault = self._library[f"host_cuda_launch_{name}"](
                (ctypes.c_uint * 3)(*grid),
                (ctypes.c_uint * 3)(*block),
                pointers,
                ctypes.c_uint(shared),
                ctypes.c_int(ORDERS.index(_order[-1])),
                ctypes.c_uint64(0x9E3779B97F4A7C15),
            )
        if fault:
            raise HostCudaError(f"{name}: {_FAULTS[fault]}")


def _sizes(name: str, what: str, sizes: Sequence[int]) -> tuple[int, int, int]:
    sizes = tuple(int(n) for n in sizes)
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise HostCudaError(f"{name}: {what} {sizes} is not one to three positive sizes")
    return sizes + (1,) * (3 - len(sizes))


def _bytes(name: str, k: int, kind: str, value: Any) -> bytes:
    if kind[0] == "p":
        if isinstance(value, np.ndarray):
            value = value.ctypes.data
        if value is None:
            value = 0
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            return int(value).to_bytes(8, "little")
        raise HostCudaError(f"{name}: argument {k} is a pointer, got {type(value).__name__}")
    if isinstance(value, np.generic):
        size = value.dtype.itemsize
        fits = kind == f"{value.dtype.kind}{size}" or (kind == f"V{size}")
        if fits:
            return value.tobytes()
    got = value.dtype if isinstance(value, np.generic) else type(value).__name__
    raise HostCudaError(f"{name}: argument {k} is {kind}, got {got}")
