"""Our CUDA kernels: sources in the package, compiled at the first launch and cached per device."""

import functools
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np

from cvzoo.backends.cupy.library import cupy
from cvzoo.errors.exceptions import BackendError

SUFFIXES = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "int32": "i32",
    "int64": "i64",
}


def suffix(dtype: Any) -> str:
    """The suffix of a kernel's name for `dtype`. Raises KeyError if there is none."""
    return SUFFIXES[dtype.name]


_OPTIONS = ("--std=c++17",)
_NULL = np.uint64(0)
_SHARED_WITHOUT_ASKING = 48 << 10


def family_text(name: str) -> str:
    """The text of kernels/<name>.cu."""
    return (resources.files("cvzoo.backends.cuda") / "kernels" / f"{name}.cu").read_text("utf-8")


@functools.cache
def common_source() -> str:
    """The prelude of every source: 16-bit types, vector types, indexing, reductions (kernels/foundation.cu)."""
    return family_text("foundation")


@functools.cache
def source(family: str) -> str:
    """The whole text of a family of kernels: kernels/foundation.cu and kernels/<family>.cu."""
    return common_source() + "\n" + family_text(family)


class KernelModule:
    """The kernels of kernels/<family>.cu. Making it costs nothing; the first launch on a device compiles and loads.

    CuPy keeps the compiled binary in its folder: one machine compiles a family once. It compiles so that float32
    numbers below 1.2e-38 count as 0 (-ftz=true), and products may be added without rounding between (fma).
    """

    def __init__(self, family: str):
        self.family = family
        self._text: str | None = None
        self._cupy: Any = None  # the module that the kernels were compiled with
        self._modules: dict[int, Any] = {}
        self._functions: dict[tuple[int, str], Any] = {}

    @classmethod
    def from_source(cls, label: str, text: str) -> "KernelModule":
        """Kernels of generated text, which kernels/foundation.cu is put in front of; `label` names them in errors."""
        made = cls(label)
        made._text = text
        return made

    def source(self) -> str:
        """The whole text that is compiled."""
        return source(self.family) if self._text is None else common_source() + "\n" + self._text

    def _function(self, device: int, name: str) -> Any:
        module = self._modules.get(device)
        try:
            if module is None:
                module = self._cupy.RawModule(code=self.source(), options=_OPTIONS, backend="nvrtc")
            function = module.get_function(name)
        except Exception as error:  # CompileException, CUDADriverError, and what NVRTC's absence raises
            raise BackendError(
                f"the CUDA kernels of {self.family} cannot be used: {type(error).__name__}: {error}",
                hint="a CuPy that fits the driver and this GPU; config.backend = 'numpy' needs none of it",
            ) from error
        self._modules[device] = module
        self._functions[device, name] = function
        return function

    def launch(
        self, name: str, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], *, shared: int = 0
    ) -> None:
        """Launch a kernel on CuPy's current stream of the current device, without synchronization.

        grid, block: sizes (x, y, z); none may be 0
        args: cupy.ndarray for a pointer, None for a null one, NumPy scalars for the rest, of the very types in the
            kernel's C signature; strides are the caller's business
        shared: bytes of dynamic shared memory

        Raises BackendError if the kernels do not compile here; the message has the compiler's log.
        """
        loaded = cupy()
        if self._cupy is not loaded:
            self._cupy = loaded
            self._modules.clear()
            self._functions.clear()
        device = loaded.cuda.runtime.getDevice()
        function = self._functions.get((device, name)) or self._function(device, name)
        if shared > _SHARED_WITHOUT_ASKING and function.max_dynamic_shared_size_bytes < shared:
            function.max_dynamic_shared_size_bytes = shared
        function(tuple(grid), tuple(block), tuple(_NULL if a is None else a for a in args), shared_mem=shared)


def blocks(n: int, threads: int = 256, most: int = 65535 * 8) -> tuple[int, int, int]:
    """A one-dimensional grid for n elements, one per thread; of at most `most` blocks."""
    return (max(1, min(-(-n // threads), most)), 1, 1)
