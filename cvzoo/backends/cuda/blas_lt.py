"""Products of matrices with a bias by cuBLASLt, whose kernels add it before they write.

The kernel is chosen once per shape and cached, as the heuristics must not be called while a CUDA graph is captured.
"""

import collections
import ctypes
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from cvzoo.backends.cuda.blas import TYPES, WORKSPACE, compute_type, cuda_major, current_handle, layout, readable
from cvzoo.backends.cuda.blas_library import check, cublas_lt, has_cublas_lt, why_no_cublas
from cvzoo.backends.cupy.library import cupy

# cublasLtMatmulDescAttributes_t
_TRANSA, _TRANSB, _EPILOGUE, _BIAS_POINTER, _BIAS_TYPE = 3, 4, 7, 8, 26
# cublasLtEpilogue_t; its GELU is the one by tanh
EPILOGUES = {None: 4, "relu": 4 | 2, "gelu_tanh": 4 | 32}
# cublasLtMatmulPreferenceAttributes_t
_MAX_WORKSPACE, _ALIGNMENT_A, _ALIGNMENT_B, _ALIGNMENT_C, _ALIGNMENT_D = 1, 5, 6, 7, 8
_KEPT = 1024  # plans of a thread


class HeuristicResult(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = [
        ("algorithm", ctypes.c_uint64 * 8),
        ("workspace", ctypes.c_size_t),
        ("state", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    ]


class _Key(NamedTuple):
    """The cache key of a product; a and b in cuBLAS's notation: out.T = a @ b."""

    device: int
    m: int
    n: int
    k: int
    turned_a: bool
    turned_b: bool
    step_a: int
    step_b: int
    step_out: int
    dtype: str
    out: str
    compute: int
    activation: str | None
    alignments: tuple[int, int, int]


class _Plan:
    """The arguments of cublasLtMatmul besides the arrays."""

    def __init__(self, library: Any, handle: int, key: _Key, bias: int):
        self._library = library
        self._made: list[tuple[Callable[[int], int], int]] = []
        kind, kind_out = TYPES[key.dtype], TYPES[key.out]
        scale = TYPES["float64"] if key.dtype == "float64" else TYPES["float32"]
        self.description = self._make("MatmulDesc", key.compute, scale)
        turned = ctypes.c_int
        self._describe(_TRANSA, turned(key.turned_a))
        self._describe(_TRANSB, turned(key.turned_b))
        self._describe(_EPILOGUE, ctypes.c_uint32(EPILOGUES[key.activation]))
        self._describe(_BIAS_TYPE, ctypes.c_int32(kind_out))
        self.set_bias(bias)
        rows, columns = (key.k, key.m) if key.turned_a else (key.m, key.k)
        self.a = self._make("MatrixLayout", kind, rows, columns, key.step_a)
        rows, columns = (key.n, key.k) if key.turned_b else (key.k, key.n)
        self.b = self._make("MatrixLayout", kind, rows, columns, key.step_b)
        self.out = self._make("MatrixLayout", kind_out, key.m, key.n, key.step_out)
        preference = self._make("MatmulPreference")
        limits: Any = (_ALIGNMENT_A, _ALIGNMENT_B, _ALIGNMENT_C, _ALIGNMENT_D), (*key.alignments, key.alignments[2])
        for name, value in ((_MAX_WORKSPACE, ctypes.c_uint64(WORKSPACE)), *zip(*limits)):
            number = value if isinstance(value, ctypes.c_uint64) else ctypes.c_uint32(value)
            status = library.cublasLtMatmulPreferenceSetAttribute(
                preference, name, ctypes.addressof(number), ctypes.sizeof(number)
            )
            check(status, "a preference")
        found, count = HeuristicResult(), ctypes.c_int(0)
        status = library.cublasLtMatmulAlgoGetHeuristic(
            *(handle, self.description, self.a, self.b, self.out, self.out, preference, 1),
            *(ctypes.addressof(found), ctypes.addressof(count)),
        )
        self.is_usable = status == 0 and count.value > 0 and found.state == 0 and found.workspace <= WORKSPACE
        self._algorithm = found
        self.algorithm = ctypes.addressof(found)
        self.workspace = found.workspace

    def _make(self, what: str, *arguments: int) -> int | None:
        pointer = ctypes.c_void_p()
        check(getattr(self._library, f"cublasLt{what}Create")(ctypes.addressof(pointer), *arguments), f"a {what}")
        self._made.append((getattr(self._library, f"cublasLt{what}Destroy"), pointer.value or 0))
        return pointer.value

    def _describe(self, attribute: int, value: Any) -> None:
        status = self._library.cublasLtMatmulDescSetAttribute(
            self.description, attribute, ctypes.addressof(value), ctypes.sizeof(value)
        )
        check(status, "an attribute of a product")

    def set_bias(self, address: int) -> None:
        self._describe(_BIAS_POINTER, ctypes.c_void_p(address))

    def __del__(self) -> None:
        if not sys.is_finalizing():
            for destroy, pointer in reversed(self._made):
                destroy(pointer)


class _Local(threading.local):
    def __init__(self) -> None:
        self.handles: dict[int, int] = {}
        self.plans: collections.OrderedDict[_Key, _Plan | None] = collections.OrderedDict()


_local = _Local()


def forget() -> None:
    """Discard this thread's handles and plans."""
    _local.__init__()  # type: ignore[misc]


def _handle(library: Any, device: int) -> int:
    handle = _local.handles.get(device)
    if handle is None:
        pointer = ctypes.c_void_p()
        check(library.cublasLtCreate(ctypes.addressof(pointer)), "making a handle of cuBLASLt")
        handle = _local.handles[device] = pointer.value or 0
    return handle


def _alignment(*addresses: int) -> int:
    """The largest power of two up to 256 that all are multiples of."""
    found = 256
    for address in addresses:
        found = min(found, address & -address if address else 256)
    return found


def gemm_with_bias(a: Any, b: Any, bias: Any, out: Any, *, activation: str | None = None) -> bool:
    """Whether `out` = activation(a @ b + bias) was computed; False: cuBLASLt does not support the case.

    a: (M, K); b: (K, N), of a's dtype: float16, bfloat16 or float32
    bias: (N,), of adjacent elements, of the dtype of `out`
    out: (M, N), of a's dtype, rows of adjacent elements
    activation: None, "relu" or "gelu_tanh"
    """
    m, n = out.shape
    k = a.shape[-1]
    dtype = a.dtype.name
    major = cuda_major()
    is_dense = bias.dtype == out.dtype == a.dtype and bias.strides == (bias.itemsize,)
    if dtype == "float64" or not (m and n and k and is_dense):
        return False
    if why_no_cublas(major) is not None or not has_cublas_lt(major):
        return False
    a, b = readable(a), readable(b)
    (turned_a, step_a), (turned_b, step_b) = layout(a), layout(b)  # type: ignore[misc]
    turned_out, step_out = layout(out)  # type: ignore[misc]
    if turned_out:
        return False
    xp = cupy()
    stream = xp.cuda.get_current_stream()
    device = xp.cuda.runtime.getDevice()
    addresses = b.data.ptr, a.data.ptr, out.data.ptr
    size = a.itemsize
    alignments = (
        _alignment(addresses[0], step_b * size),
        _alignment(addresses[1], step_a * size),
        _alignment(addresses[2], step_out * size, bias.data.ptr),
    )
    how = dtype, out.dtype.name, compute_type(dtype), activation, alignments
    key = _Key(device, n, m, k, turned_b, turned_a, step_b, step_a, step_out, *how)
    library = cublas_lt(major)
    handle = _handle(library, device)
    if key not in _local.plans:
        if stream.is_capturing():
            return False
        found = _Plan(library, handle, key, bias.data.ptr)
        _local.plans[key] = found if found.is_usable else None
        while len(_local.plans) > _KEPT:
            _local.plans.popitem(last=False)
    plan = _local.plans[key]
    if plan is None:
        return False
    _local.plans.move_to_end(key)
    plan.set_bias(bias.data.ptr)
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    status = library.cublasLtMatmul(
        *(handle, plan.description, ctypes.addressof(one), addresses[0], plan.a, addresses[1], plan.b),
        *(ctypes.addressof(zero), addresses[2], plan.out, addresses[2], plan.out, plan.algorithm),
        *(current_handle().workspace(stream.ptr).ptr, WORKSPACE, stream.ptr),
    )
    check(status, f"a product of ({m}, {k}) and ({k}, {n}) {dtype} with a bias")
    return True
