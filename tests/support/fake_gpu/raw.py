"""Kernels in CUDA C, compiled for the host and run on the fake's memory."""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
from host_cuda import HostModule

from fake_gpu.array import CudaArray, check_operand
from fake_gpu.machine import FakeGpuError, machine
from fake_gpu.memory import MemoryPointer, touched


class Function:
    """One kernel."""

    max_threads_per_block = 1024
    num_regs = 32
    shared_size_bytes = 0
    local_size_bytes = 0

    def __init__(self, module: HostModule, name: str):
        if name not in module.names:
            raise RuntimeError(f"CUDA_ERROR_NOT_FOUND: named symbol not found: {name}")
        self._module = module
        self.name = name
        self.max_dynamic_shared_size_bytes = 48 << 10

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
        stream: Any = None,
    ) -> None:
        if shared_mem > self.max_dynamic_shared_size_bytes:
            raise RuntimeError(f"CUDA_ERROR_INVALID_VALUE: {shared_mem} bytes of shared memory were not asked for")
        values, touches = [], []
        for value in args:
            if isinstance(value, CudaArray):
                check_operand(value)
                touches.extend(touched(value._mem))
                value = value.data.ptr
            elif isinstance(value, MemoryPointer):
                touches.extend(touched(value.mem))
                value = value.ptr
            elif isinstance(value, np.ndarray):
                if value.size != 1 or value.nbytes > 4096:
                    raise TypeError(f"Unsupported type {type(value)}: only arrays of one element go by value")
                value = value.reshape(())[()]
            elif isinstance(value, bool):
                value = np.bool_(value)
            elif isinstance(value, int):
                value = np.int64(value)
            elif isinstance(value, float):
                value = np.float64(value)
            elif not isinstance(value, np.generic):
                raise TypeError(f"Unsupported type {type(value)}")
            values.append(value)
        kinds = self._module.signature(self.name)
        if len(kinds) != len(values):
            raise FakeGpuError(f"{self.name} takes {len(kinds)} arguments ({' '.join(kinds)}), got {len(values)}")
        module, name = self._module, self.name
        machine().run(
            name,
            lambda: module.launch(name, grid, block, values, shared=shared_mem),
            stream=None if stream is None else stream.ptr,
            touches=tuple(touches),
        )


class RawModule:
    """Stands for cupy.RawModule."""

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | None = None,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Any = None,
        jitify: bool = False,
    ):
        if code is None or backend != "nvrtc":
            raise FakeGpuError("the fake compiles sources by NVRTC's stand-in only")
        self.code = inspect.cleandoc(code) if code.startswith(" ") else code
        self.options = options
        self._module: HostModule | None = None

    def get_function(self, name: str) -> Function:
        if self._module is None:
            self._module = HostModule(self.code)
        return Function(self._module, name)


class RawKernel:
    """Stands for cupy.RawKernel."""

    def __init__(self, code: str, name: str, options: tuple[str, ...] = (), backend: str = "nvrtc", **rest: Any):
        self._module = RawModule(code=code, options=options, backend=backend)
        self.name = name

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], **how: Any) -> None:
        self._module.get_function(self.name)(grid, block, args, **how)
