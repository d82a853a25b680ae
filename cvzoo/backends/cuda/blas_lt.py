"""Matrix products with a bias by cuBLASLt, whose kernels add it before they write.

The kernel is chosen once per shape and cached, as the heuristics must not be called while a CUDA graph is captured.
"""

import collections
import ctypes
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from cvzoo.backends.arrays import device_address
from cvzoo.backends.cuda.blas import TYPES, WORKSPACE, compute_type, cuda_major, current_handle, layout, readable
from cvzoo.backends.cuda.blas_library import check, cublas_lt, has_cublas_lt, why_no_cublas
from cvzoo.backends.cupy.library import cupy
from cvzoo.typing.aliases import Array

# cublasLtMatmulDescAttributes_t
_TRANSA, _TRANSB, _EPILOGUE, _BIAS_POINTER, _BIAS_TYPE = 3, 4, 7, 8, 26
# cublasLtEpilogue_t; its GELU is the one by tanh
EPILOGUES = {None: 4, "relu": 4 | 2, "gelu_tanh": 4 | 32}
# cublasLtMatmulPreferenceAttributes_t
_MAX_WORKSPACE, _ALIGNMENT_A, _ALIGNMENT_B, _ALIGNMENT_C, _ALIGNMENT_D = 1, 5, 6, 7, 8
_MAX_PLANS = 1024  # per thread


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
    transposed_a: bool
    transposed_b: bool
    ld_a: int
    ld_b: int
    ld_out: int
    dtype: str
    out: str
    compute: int
    activation: str | None
    alignments: tuple[int, int, int]


class _MatmulPlan:
    """The arguments of cublasLtMatmul besides the arrays."""

    def __init__(self, library: ctypes.CDLL, handle: int, key: _Key, bias: int):
        self._library = library
        self._made: list[tuple[Callable[[int], int], int]] = []
        kind, kind_out = TYPES[key.dtype], TYPES[key.out]
        scale = TYPES["float64"] if key.dtype == "float64" else TYPES["float32"]
        self.description = self._make("MatmulDesc", key.compute, scale)
        self._describe(_TRANSA, ctypes.c_int(key.transposed_a))
        self._describe(_TRANSB, ctypes.c_int(key.transposed_b))
        self._describe(_EPILOGUE, ctypes.c_uint32(EPILOGUES[key.activation]))
        self._describe(_BIAS_TYPE, ctypes.c_int32(kind_out))
        self.set_bias(bias)
        rows, columns = (key.k, key.m) if key.transposed_a else (key.m, key.k)
        self.a = self._make("MatrixLayout", kind, rows, columns, key.ld_a)
        rows, columns = (key.n, key.k) if key.transposed_b else (key.k, key.n)
        self.b = self._make("MatrixLayout", kind, rows, columns, key.ld_b)
        self.out = self._make("MatrixLayout", kind_out, key.m, key.n, key.ld_out)
        preference = self._make("MatmulPreference")
        limits: list[tuple[int, ctypes.c_uint64 | ctypes.c_uint32]] = [(_MAX_WORKSPACE, ctypes.c_uint64(WORKSPACE))]
        alignments = (*key.alignments, key.alignments[2])  # C is the result, too
        for name, alignment in zip((_ALIGNMENT_A, _ALIGNMENT_B, _ALIGNMENT_C, _ALIGNMENT_D), alignments):
            limits.append((name, ctypes.c_uint32(alignment)))
        for name, value in limits:
            status = library.cublasLtMatmulPreferenceSetAttribute(
                preference, name, ctypes.addressof(value), ctypes.sizeof(value)
            )
            check(status, "a preference")
        choice, count = HeuristicResult(), ctypes.c_int(0)
        status = library.cublasLtMatmulAlgoGetHeuristic(
            *(handle, self.description, self.a, self.b, self.out, self.out, preference, 1),
            *(ctypes.addressof(choice), ctypes.addressof(count)),
        )
        self.is_usable = status == 0 and count.value > 0 and choice.state == 0 and choice.workspace <= WORKSPACE
        self._algorithm = choice  # owns the memory of `algorithm`
        self.algorithm = ctypes.addressof(choice)
        self.workspace = choice.workspace

    def _make(self, what: str, *arguments: int) -> int | None:
        pointer = ctypes.c_void_p()
        check(getattr(self._library, f"cublasLt{what}Create")(ctypes.addressof(pointer), *arguments), f"a {what}")
        self._made.append((getattr(self._library, f"cublasLt{what}Destroy"), pointer.value or 0))
        return pointer.value

    def _describe(self, attribute: int, value: "ctypes._SimpleCData[Any]") -> None:
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
        self.plans: collections.OrderedDict[_Key, _MatmulPlan | None] = collections.OrderedDict()


_local = _Local()


def forget() -> None:
    """Discard this thread's handles and plans."""
    _local.__init__()  # type: ignore[misc]


def _handle(library: ctypes.CDLL, device: int) -> int:
    handle = _local.handles.get(device)
    if handle is None:
        pointer = ctypes.c_void_p()
        check(library.cublasLtCreate(ctypes.addressof(pointer)), "making a handle of cuBLASLt")
        handle = _local.handles[device] = pointer.value or 0
    return handle


def _alignment(*addresses: int) -> int:
    """The largest power of two up to 256 that all are multiples of."""
    largest = 256
    for address in addresses:
        largest = min(largest, address & -address if address else 256)
    return largest


def gemm_with_bias(a: Array, b: Array, bias: Array, out: Array, *, activation: str | None = None) -> bool:
    """Whether `out` = activation(a @ b + bias) was computed; False: cuBLASLt does not support the case.

    a: (M, K); b: (K, N), of a's dtype: float16, bfloat16 or float32
    bias: (N,), contiguous, of the dtype of `out`
    out: (M, N), of a's dtype, contiguous rows
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
    (transposed_a, ld_a), (transposed_b, ld_b) = layout(a), layout(b)  # type: ignore[misc]
    transposed_out, ld_out = layout(out)  # type: ignore[misc]
    if transposed_out:
        return False
    xp = cupy()
    stream = xp.cuda.get_current_stream()
    device = xp.cuda.runtime.getDevice()
    addresses = device_address(b), device_address(a), device_address(out)
    size = a.itemsize
    alignments = (
        _alignment(addresses[0], ld_b * size),
        _alignment(addresses[1], ld_a * size),
        _alignment(addresses[2], ld_out * size, device_address(bias)),
    )
    types = dtype, out.dtype.name, compute_type(dtype), activation, alignments
    key = _Key(device, n, m, k, transposed_b, transposed_a, ld_b, ld_a, ld_out, *types)
    library = cublas_lt(major)
    handle = _handle(library, device)
    if key not in _local.plans:
        if stream.is_capturing():  # choosing a kernel would break the capture
            return False
        made = _MatmulPlan(library, handle, key, device_address(bias))
        _local.plans[key] = made if made.is_usable else None
        while len(_local.plans) > _MAX_PLANS:
            _local.plans.popitem(last=False)
    plan = _local.plans[key]
    if plan is None:
        return False
    _local.plans.move_to_end(key)
    plan.set_bias(device_address(bias))
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    status = library.cublasLtMatmul(
        *(handle, plan.description, ctypes.addressof(one), addresses[0], plan.a, addresses[1], plan.b),
        *(ctypes.addressof(zero), addresses[2], plan.out, addresses[2], plan.out, plan.algorithm),
        *(current_handle().workspace(stream.ptr).ptr, WORKSPACE, stream.ptr),
    )
    check(status, f"a product of ({m}, {k}) and ({k}, {n}) {dtype} with a bias")
    return True
