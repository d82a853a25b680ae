"""Compilation and launch of CUDA kernels, whose sources are in the package or generated."""

import functools
from collections.abc import Sequence
from importlib import resources
from typing import TypeAlias

import numpy as np

from cvzoo.backends.cupy.library import CudaKernel, CudaModule, Cupy, cupy
from cvzoo.errors.exceptions import BackendError
from cvzoo.typing.aliases import Array

gpu_arrays = cupy  # for the rooms above, which do not name the libraries of a GPU
KernelArgument: TypeAlias = Array | np.generic | None  # a pointer, a number of its C type, a null pointer

SUFFIXES = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "int32": "i32",
    "int64": "i64",
}


def suffix(dtype: np.dtype) -> str:
    """The suffix of a kernel's name for `dtype`. Raises KeyError if there is none."""
    return SUFFIXES[dtype.name]


_OPTIONS = ("--std=c++17",)
_NULL = np.uint64(0)
_SHARED_BY_DEFAULT = 48 << 10  # bytes of shared memory; CUDA requires opting in to more


def family_text(name: str) -> str:
    """The text of kernels/<name>.cu."""
    return (resources.files("cvzoo.backends.cuda") / "kernels" / f"{name}.cu").read_text("utf-8")


@functools.cache
def common_source() -> str:
    """The prelude of every source: 16-bit types, vector types, indexing, reductions (kernels/foundation.cu)."""
    return family_text("foundation")


@functools.cache
def source(family: str) -> str:
    """The text of a family of kernels: kernels/foundation.cu and kernels/<family>.cu."""
    return common_source() + "\n" + family_text(family)


class KernelModule:
    """The kernels of kernels/<family>.cu, compiled and loaded at the first launch on a device.

    CuPy caches the binary on disk, so that a machine compiles a family once. Its flags flush subnormal float32 numbers,
    below 1.2e-38, to 0 (-ftz=true), and contract a product and a sum to one rounding (-fmad=true).
    """

    def __init__(self, family: str):
        self.family = family
        self._text: str | None = None
        self._cupy: Cupy | None = None  # that the kernels were compiled with; tests replace it
        self._modules: dict[int, CudaModule] = {}
        self._functions: dict[tuple[int, str], CudaKernel] = {}

    @classmethod
    def from_source(cls, label: str, text: str) -> "KernelModule":
        """Kernels of a generated text, compiled after kernels/foundation.cu; `label` names them in errors."""
        module = cls(label)
        module._text = text
        return module

    def source(self) -> str:
        """The text that is compiled."""
        return source(self.family) if self._text is None else common_source() + "\n" + self._text

    def _function(self, cupy_module: Cupy, device: int, name: str) -> CudaKernel:
        module = self._modules.get(device)
        try:
            if module is None:
                module = cupy_module.RawModule(code=self.source(), options=_OPTIONS, backend="nvrtc")
            function = module.get_function(name)
        except Exception as error:  # CompileException, CUDADriverError, and the errors of a missing NVRTC
            raise BackendError(
                f"the CUDA kernels of {self.family} cannot be used: {type(error).__name__}: {error}",
                hint="a CuPy that fits the driver and this GPU; config.backend = 'numpy' needs none of it",
            ) from error
        self._modules[device] = module
        self._functions[device, name] = function
        return function

    def launch(
        self, name: str, grid: Sequence[int], block: Sequence[int], args: Sequence[KernelArgument], *, shared: int = 0
    ) -> None:
        """Launch a kernel on CuPy's current stream of the current device, without synchronization.

        grid, block: sizes (x, y, z); none may be 0
        args: arrays for pointers, None for null pointers, NumPy scalars of exactly the types in the kernel's C
            signature for the rest; strides are not checked
        shared: bytes of dynamic shared memory

        Raises BackendError if the kernels do not compile here; the message has the compiler's log.
        """
        loaded = cupy()
        if self._cupy is not loaded:
            self._cupy = loaded
            self._modules.clear()
            self._functions.clear()
        device = loaded.cuda.runtime.getDevice()
        function = self._functions.get((device, name)) or self._function(loaded, device, name)
        if shared > _SHARED_BY_DEFAULT and function.max_dynamic_shared_size_bytes < shared:
            function.max_dynamic_shared_size_bytes = shared
        function(tuple(grid), tuple(block), tuple(_NULL if a is None else a for a in args), shared_mem=shared)


def blocks(n: int, threads: int = 256, most: int = 65535 * 8) -> tuple[int, int, int]:
    """A one-dimensional grid for n elements, one per thread; of at most `most` blocks."""
    return (max(1, min(-(-n // threads), most)), 1, 1)
