"""Matrix products by cuBLAS.

It is called by ctypes, since CuPy refuses its own cuBLAS calls during the capture of a CUDA graph. Products of 16-bit
values are summed in float32; float32 is not rounded to TF32 unless config.dtype is "tf32".
"""

import ctypes
import sys
import threading

import numpy as np

from cvzoo.backends.arrays import device_address
from cvzoo.backends.cuda.blas_library import check, cublas, why_no_cublas
from cvzoo.backends.cupy.library import CudaPointer, cupy
from cvzoo.config.switches import switches
from cvzoo.typing.aliases import Array

WORKSPACE = 32 << 20  # bytes; NVIDIA's recommendation for Hopper
TYPES = {"float32": 0, "float64": 1, "float16": 2, "int8": 3, "int32": 10, "bfloat16": 14}
_COMPUTE_32F, _COMPUTE_TF32, _COMPUTE_64F, _COMPUTE_32I = 68, 77, 70, 72
_DEFAULT_ALGORITHM = -1


class _Handle:
    """A cuBLAS handle of a thread and device, with a workspace per stream, so that streams do not share one and none is
    allocated during a capture."""

    def __init__(self, major: int):
        self.library = cublas(major)
        pointer = ctypes.c_void_p()
        check(self.library.cublasCreate_v2(ctypes.addressof(pointer)), "making a handle")
        self.pointer = pointer.value
        self._stream: int | None = None
        self._workspaces: dict[int, CudaPointer] = {}

    def on(self, stream: int) -> int | None:
        """The handle's address, set to the stream."""
        if stream != self._stream:
            self.workspace(stream)
            check(self.library.cublasSetStream_v2(self.pointer, stream), "choosing a stream")
            memory = self._workspaces[stream].ptr
            # after cublasSetStream, which resets the workspace to cuBLAS's own
            check(self.library.cublasSetWorkspace_v2(self.pointer, memory, WORKSPACE), "setting the workspace")
            self._stream = stream
        return self.pointer

    def workspace(self, stream: int) -> CudaPointer:
        """The stream's workspace."""
        memory = self._workspaces.get(stream)
        if memory is None:
            # not by the current allocator, which may be that of a graph's private memory
            memory = self._workspaces[stream] = cupy().get_default_memory_pool().malloc(WORKSPACE)
        return memory

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.library.cublasDestroy_v2(self.pointer)


class _Handles(threading.local):
    def __init__(self) -> None:
        self.of: dict[int, _Handle] = {}


_handles = _Handles()
_majors: list[int] = []


def cuda_major() -> int:
    """The version of CUDA that CuPy was built for: 12 or 13."""
    if not _majors:
        _majors.append(cupy().cuda.runtime.runtimeGetVersion() // 1000)
    return _majors[0]


def forget() -> None:
    """Discard this thread's handles."""
    _handles.of.clear()
    _majors.clear()


def current_handle() -> _Handle:
    """This thread's handle for the current device."""
    device = cupy().cuda.runtime.getDevice()
    handle = _handles.of.get(device)
    if handle is None:
        handle = _handles.of[device] = _Handle(cuda_major())
    return handle


def compute_type(dtype: str, *, is_exact: bool = False) -> int:
    """The cublasComputeType_t of a dtype's products; is_exact: float32 is never rounded to TF32."""
    if dtype == "float64":
        return _COMPUTE_64F
    if dtype == "int8":
        return _COMPUTE_32I
    return _COMPUTE_TF32 if dtype == "float32" and switches.dtype == "tf32" and not is_exact else _COMPUTE_32F


def layout(x: Array) -> tuple[bool, int] | None:
    """Whether the matrices (..., R, C) are transposed, and the leading dimension in elements.

    None: cuBLAS does not support their strides.
    """
    rows, columns = x.shape[-2:]
    size = x.itemsize
    between_rows, between_columns = x.strides[-2:]
    if columns == 1 or between_columns == size:
        if rows == 1:  # the stride between rows is arbitrary, and cuBLAS rejects leading dimensions below `columns`
            return False, max(columns, 1)
        if between_rows >= columns * size and between_rows % size == 0:
            return False, between_rows // size
    if rows == 1 or between_rows == size:
        if columns == 1:
            return True, max(rows, 1)
        if between_columns >= rows * size and between_columns % size == 0:
            return True, between_columns // size
    return None


def readable(x: Array) -> Array:
    """x (..., R, C), or a contiguous copy if cuBLAS does not support its strides."""
    if layout(x) is not None and (x.ndim < 3 or (x.strides[0] >= 0 and x.strides[0] % x.itemsize == 0)):
        return x
    return cupy().ascontiguousarray(x)


def gemm(a: Array, b: Array, out: Array, *, alpha: float = 1.0, beta: float = 0.0, is_exact: bool = False) -> Array:
    """`out` = alpha * (a @ b) + beta * out, written into it.

    a: (M, K) or (G, M, K); b: (K, N) or (G, K, N), of a's dtype: float16, bfloat16, float32, float64 or int8
    out: (M, N) or (G, M, N), contiguous rows; of a's dtype, or float32 for 16 bits, int32 for int8
    Transposed views, slices contiguous along one axis and a broadcast G are read without a copy.
    is_exact: float32 is never rounded to TF32
    """
    m, n = out.shape[-2:]
    k = a.shape[-1]
    count = out.shape[0] if out.ndim == 3 else 1
    if not (m and n and count):
        return out
    if not k:
        if beta == 0:
            out.fill(0)
        else:
            out *= beta
        return out
    dtype = a.dtype.name
    if why_no_cublas(cuda_major()) is not None:
        return _by_cupy(a, b, out, alpha, beta)
    a, b = readable(a), readable(b)
    (transposed_a, ld_a), (transposed_b, ld_b) = layout(a), layout(b)  # type: ignore[misc]
    transposed_out, ld_out = layout(out)  # type: ignore[misc]
    if transposed_out:
        raise ValueError("gemm: the rows of `out` must be contiguous")
    handle = current_handle()
    pointer = handle.on(cupy().cuda.get_current_stream().ptr)
    scalar: type = ctypes.c_double if dtype == "float64" else ctypes.c_int32 if dtype == "int8" else ctypes.c_float
    factor, keep = scalar(int(alpha) if dtype == "int8" else alpha), scalar(int(beta) if dtype == "int8" else beta)
    kind, kind_out = TYPES[dtype], TYPES[out.dtype.name]
    # cuBLAS is column-major, so that a row-major matrix is its transpose: out.T = b.T @ a.T
    sizes = (int(transposed_b), int(transposed_a), n, m, k, ctypes.addressof(factor))
    algorithm = (compute_type(dtype, is_exact=is_exact), _DEFAULT_ALGORITHM)
    if count == 1:
        status = handle.library.cublasGemmEx_64(
            *(pointer, *sizes, device_address(b), kind, ld_b, device_address(a), kind, ld_a, ctypes.addressof(keep)),
            *(device_address(out), kind_out, ld_out, *algorithm),
        )
    else:
        status = handle.library.cublasGemmStridedBatchedEx_64(
            *(pointer, *sizes, device_address(b), kind, ld_b, _batch_stride(b)),
            *(device_address(a), kind, ld_a, _batch_stride(a), ctypes.addressof(keep)),
            *(device_address(out), kind_out, ld_out, _batch_stride(out), count, *algorithm),
        )
    check(status, f"a product of ({m}, {k}) and ({k}, {n}) {dtype}")
    return out


def _batch_stride(x: Array) -> int:
    """The stride between matrices, in elements."""
    return 0 if x.ndim < 3 or x.shape[0] == 1 else x.strides[0] // x.itemsize


def _by_cupy(a: Array, b: Array, out: Array, alpha: float, beta: float) -> Array:
    """gemm by CuPy, where libcublas cannot be loaded; CuPy refuses it during the capture of a CUDA graph."""
    xp = cupy()
    wide: np.dtype = np.dtype({"int8": "int32", "float64": "float64"}.get(a.dtype.name, "float32"))
    y: Array = xp.matmul(a.astype(wide), b.astype(wide))
    if alpha != 1:
        y *= alpha
    if beta != 0:
        y += beta * out.astype(wide)
    out[...] = y
    return out
