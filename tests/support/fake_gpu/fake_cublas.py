"""libcublas and libcublasLt at the level of their C calls, on the host's memory.

Arguments go through ctypes with the types of the real functions, so that a call which C would not take fails here too.
Documented rules are held: a change of the stream forgets the workspace, C is not read where beta is 0, leading
dimensions are large enough, heuristics are not asked while a stream captures, and one handle serves one device.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from cvzoo.backends.cuda.blas_library import SIGNATURES, TYPES
from cvzoo.backends.cuda.blas_lt import HeuristicResult

OK, INVALID, NOT_SUPPORTED = 0, 7, 15
DTYPES = {
    0: np.dtype(np.float32),
    1: np.dtype(np.float64),
    2: np.dtype(np.float16),
    3: np.dtype(np.int8),
    10: np.dtype(np.int32),
    14: np.dtype(ml_dtypes.bfloat16),
}
_WIDE = {68: np.float32, 77: np.float32, 70: np.float64, 72: np.int32}


def matrix(address: int, dtype: np.dtype, rows: int, columns: int, step: int) -> np.ndarray:
    """A matrix in memory that counts columns first."""
    count = (columns - 1) * step + rows
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    flat = np.frombuffer(memory, dtype, count)
    return np.lib.stride_tricks.as_strided(flat, (rows, columns), (dtype.itemsize, step * dtype.itemsize))


def tf32(x: np.ndarray) -> np.ndarray:
    """float32 with the 10 bits behind the point that tensor cores read."""
    return ((x.view(np.uint32) + 0x1000) & np.uint32(0xFFFFE000)).view(np.float32)


class FakeCublas:
    """Both libraries.

    launch: called as launch(stream, name, work) for what would run on the GPU; the default runs it at once
    is_capturing: called with a stream's address
    calls: names of the C functions, in order, with what matters of their arguments
    refuses: names of functions that answer "not supported" from now on
    """

    def __init__(
        self,
        launch: Callable[[int, str, Callable[[], None]], None] | None = None,
        is_capturing: Callable[[int], bool] | None = None,
    ):
        self.launch = launch or (lambda stream, name, work: work())
        self.is_capturing = is_capturing or (lambda stream: False)
        self.calls: list[tuple] = []
        self.refuses: set[str] = set()
        self.handles: dict[int, dict[str, int]] = {}
        self._objects: dict[int, dict[Any, Any]] = {}
        self._count = 0
        self._callbacks = []
        for name, kinds in SIGNATURES.items():
            kept = ctypes.CFUNCTYPE(ctypes.c_int, *[TYPES[kind] for kind in kinds])(self._guarded(name))
            setattr(self, name, kept)

    def _guarded(self, name: str) -> Callable[..., int]:
        function = getattr(self, f"_{name}")

        def call(*arguments: Any) -> int:
            if name in self.refuses:
                return NOT_SUPPORTED
            try:
                return function(*[0 if each is None else each for each in arguments])
            except Exception as error:  # an exception in a callback would only be printed
                self.calls.append(("failed", name, repr(error)))
                return 14

        return call

    def _number(self, place: int, what: dict[Any, Any]) -> int:
        self._count += 16
        self._objects[self._count] = what
        ctypes.c_void_p.from_address(place).value = self._count
        return OK

    # --- cuBLAS -----------------------------------------------------------------------------------------------------
    def _cublasCreate_v2(self, place: int) -> int:
        self.calls.append(("create",))
        self._number(place, {})
        self.handles[self._count] = {"stream": 0, "workspace": 0, "size": 0}
        return OK

    def _cublasDestroy_v2(self, handle: int) -> int:
        self.calls.append(("destroy",))
        return OK if self.handles.pop(handle, None) is not None else INVALID

    def _cublasSetStream_v2(self, handle: int, stream: int) -> int:
        self.calls.append(("stream", stream))
        self.handles[handle].update(stream=stream, workspace=0, size=0)
        return OK

    def _cublasSetWorkspace_v2(self, handle: int, memory: int, size: int) -> int:
        self.calls.append(("workspace", size))
        if memory % 256:
            return INVALID
        self.handles[handle].update(workspace=memory, size=size)
        return OK

    def _cublasGemmEx_64(
        self,
        handle,
        turn_a,
        turn_b,
        m,
        n,
        k,
        alpha,
        a,
        type_a,
        lda,
        b,
        type_b,
        ldb,
        beta,
        c,
        type_c,
        ldc,
        compute,
        algo,
    ) -> int:
        name = "cublasGemmEx_64"
        first = (handle, turn_a, turn_b, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0, beta, c, type_c, ldc, 0)
        return self._gemm(name, *first, 1, compute, algo)

    def _cublasGemmStridedBatchedEx_64(self, *arguments) -> int:
        return self._gemm("cublasGemmStridedBatchedEx_64", *arguments)

    def _gemm(
        self, name, handle, turn_a, turn_b, m, n, k, alpha, a, type_a, lda, apart_a, b, type_b, ldb, apart_b, beta, c,
        type_c, ldc, apart_c, count, compute, algo
    ) -> int:  # fmt: skip
        own = self.handles[handle]
        rows_a, columns_a = (k, m) if turn_a else (m, k)
        rows_b, columns_b = (n, k) if turn_b else (k, n)
        if min(m, n, k, count) < 1 or lda < rows_a or ldb < rows_b or ldc < m or algo != -1 or type_a != type_b:
            return INVALID
        allowed = {
            (68, 0, 0), (77, 0, 0), (68, 2, 2), (68, 2, 0), (68, 14, 14), (68, 14, 0), (70, 1, 1), (72, 3, 10)
        }  # fmt: skip
        if (compute, type_a, type_c) not in allowed or not own["workspace"]:
            return NOT_SUPPORTED
        if type_a == 3 and (lda % 4 or ldb % 4 or a % 4 or b % 4):
            return NOT_SUPPORTED
        scalar = {70: ctypes.c_double, 72: ctypes.c_int32}.get(compute, ctypes.c_float)
        factor, keep = scalar.from_address(alpha).value, scalar.from_address(beta).value
        self.calls.append((name, m, n, k, count, DTYPES[type_a].name, DTYPES[type_c].name, compute))
        kind, kind_c = DTYPES[type_a], DTYPES[type_c]

        def work() -> None:
            for g in range(count):
                x = matrix(a + g * apart_a * kind.itemsize, kind, rows_a, columns_a, lda)
                y = matrix(b + g * apart_b * kind.itemsize, kind, rows_b, columns_b, ldb)
                z = matrix(c + g * apart_c * kind_c.itemsize, kind_c, m, n, ldc)
                total = _product(x.T if turn_a else x, y.T if turn_b else y, compute, factor, keep, z)
                with np.errstate(over="ignore"):  # what float16 cannot hold is infinite
                    z[...] = total.astype(z.dtype)

        self.launch(own["stream"], name, work)
        return OK

    # --- cuBLASLt ---------------------------------------------------------------------------------------------------
    def _cublasLtCreate(self, place: int) -> int:
        self.calls.append(("lt create",))
        return self._number(place, {})

    def _cublasLtDestroy(self, handle: int) -> int:
        return OK if self._objects.pop(handle, None) is not None else INVALID

    def _cublasLtMatmulDescCreate(self, place: int, compute: int, scale: int) -> int:
        return self._number(place, {"compute": compute, "scale": scale})

    def _cublasLtMatrixLayoutCreate(self, place: int, kind: int, rows: int, columns: int, step: int) -> int:
        return self._number(place, {"type": kind, "rows": rows, "columns": columns, "step": step})

    def _cublasLtMatmulPreferenceCreate(self, place: int) -> int:
        return self._number(place, {})

    def _destroy(self, pointer: int) -> int:
        return OK if self._objects.pop(pointer, None) is not None else INVALID

    _cublasLtMatmulDescDestroy = _cublasLtMatrixLayoutDestroy = _cublasLtMatmulPreferenceDestroy = _destroy

    def _set(self, pointer: int, attribute: int, value: int, size: int) -> int:
        self._objects[pointer][attribute] = int.from_bytes(ctypes.string_at(value, size), "little")
        return OK

    _cublasLtMatmulDescSetAttribute = _cublasLtMatmulPreferenceSetAttribute = _set

    def _cublasLtMatmulAlgoGetHeuristic(self, handle, what, a, b, c, d, preference, wanted, results, count) -> int:
        self.calls.append(("heuristic",))
        if any(self.is_capturing(own["stream"]) for own in self.handles.values()):
            return 14
        if wanted < 1 or not self._objects[preference].get(1):
            return INVALID
        found = HeuristicResult.from_address(results)
        found.state, found.workspace, found.algorithm[0] = 0, 1024, 77
        ctypes.c_int.from_address(count).value = 1
        return OK

    def _cublasLtMatmul(
        self, handle, what, alpha, a, desc_a, b, desc_b, beta, c, desc_c, d, desc_d, algorithm, memory, size, stream
    ) -> int:
        told = self._objects[what]
        side_a, side_b, side_d = self._objects[desc_a], self._objects[desc_b], self._objects[desc_d]
        if HeuristicResult.from_address(algorithm).algorithm[0] != 77 or size < 1024 or not memory or memory % 16:
            return INVALID
        turn_a, turn_b, epilogue, bias = told.get(3, 0), told.get(4, 0), told.get(7, 1), told.get(8, 0)
        if told.get(26, side_d["type"]) != side_d["type"] or (epilogue & 4 and not bias):
            return INVALID
        m, n = side_d["rows"], side_d["columns"]
        k = side_a["rows"] if turn_a else side_a["columns"]
        inner = side_b["columns"] if turn_b else side_b["rows"]
        outer = side_a["columns"] if turn_a else side_a["rows"], side_b["rows"] if turn_b else side_b["columns"]
        steps_fit = all(side["step"] >= side["rows"] for side in (side_a, side_b, side_d))
        if inner != k or outer != (m, n) or not steps_fit:
            return INVALID
        factor, keep = ctypes.c_float.from_address(alpha).value, ctypes.c_float.from_address(beta).value
        self.calls.append(("cublasLtMatmul", m, n, k, epilogue, DTYPES[side_a["type"]].name))

        def work() -> None:
            x, y, z = (
                matrix(address, DTYPES[side["type"]], side["rows"], side["columns"], side["step"])
                for address, side in ((a, side_a), (b, side_b), (d, side_d))
            )
            total = _product(x.T if turn_a else x, y.T if turn_b else y, told["compute"], factor, keep, z)
            if epilogue & 4:
                kind = DTYPES[side_d["type"]]
                total = total + matrix(bias, kind, m, 1, m).astype(total.dtype)
            if epilogue & 2:
                total = np.maximum(total, 0)
            if epilogue & 32:
                total = total * (1 + np.tanh(np.float32(0.79788456) * (total + np.float32(0.044715) * total**3))) / 2
            with np.errstate(over="ignore"):
                z[...] = total.astype(z.dtype)

        self.launch(stream, "cublasLtMatmul", work)
        return OK


def _product(a: np.ndarray, b: np.ndarray, compute: int, alpha: float, beta: float, c: np.ndarray) -> np.ndarray:
    wide = _WIDE[compute]
    a, b = np.ascontiguousarray(a.astype(wide)), np.ascontiguousarray(b.astype(wide))
    if compute == 77:
        a, b = tf32(a), tf32(b)
    with np.errstate(all="ignore"):
        y = a @ b
        if alpha != 1:
            y = y * wide(alpha)
        if beta:
            y = y + wide(beta) * c.astype(wide)
        return y
