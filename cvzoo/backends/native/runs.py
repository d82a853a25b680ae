"""Run-length encoded masks by our own kernels."""

import ctypes

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import PolygonsPlan, RunsPlan
from cvzoo.backends.openmp import threads_now

_LONGEST = 1 << 15  # side of a mask: pixels are counted in 32 bits, and each column takes memory
Runs = tuple[np.ndarray, np.ndarray]  # counts (N,) int32, offsets (R + 1,) int64


def differences_natively(a: Runs, b: Runs, index_a: np.ndarray, index_b: np.ndarray) -> np.ndarray | None:
    """(P,) int64, as `geometry.rle_iou.rle_difference`; None if NumPy must count."""
    library = native()
    if library is None:
        return None
    out = np.empty(len(index_a), np.int64)
    parts = [np.ascontiguousarray(each) for each in (*a, *b, index_a, index_b)]
    arrays = (ctypes.c_void_p * 7)(*map(numpy_address, parts), numpy_address(out))
    library.kernels["run_difference"](ctypes.byref(RunsPlan(len(out))), arrays, threads_now()[0])
    return out


def decoded_natively(text: bytes, stops: np.ndarray) -> Runs | None:
    """counts (N,) int32 and the end (R,) int64 of each string's; None if NumPy must decode, or a string is malformed.

    stops: (R,) int64, the end of each string's characters
    """
    library = native()
    if library is None:
        return None
    counts, ends = np.empty(len(text), np.int32), np.empty(len(stops), np.int64)
    characters = np.frombuffer(text, np.uint8)
    parts = (characters, np.ascontiguousarray(stops), counts, ends)
    arrays = (ctypes.c_void_p * 4)(*map(numpy_address, parts))
    if library.kernels["run_strings"](ctypes.byref(RunsPlan(len(stops))), arrays, 1):
        return None
    return counts[: ends[-1] if len(ends) else 0], ends


def summed_natively(counts: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The sum of each mask's runs, and of its foreground ones, (R,) int64 each; None if NumPy must add.

    counts: (N,) int32; offsets: (R + 1,) int64, ascending from 0 to N
    """
    library = native()
    if library is None:
        return None
    totals, areas = np.empty((2, len(offsets) - 1), np.int64)
    arrays = (ctypes.c_void_p * 4)(*map(numpy_address, (counts, offsets, totals, areas)))
    library.kernels["run_sums"](ctypes.byref(RunsPlan(len(totals))), arrays, 1)
    return totals, areas


def drawn_natively(x: np.ndarray, y: np.ndarray, length: np.ndarray, sizes: np.ndarray) -> Runs | None:
    """counts (N,) int32 and offsets (P + 1,) int64 of the masks of P rings; None if NumPy must draw.

    x, y: (V,) int32, the rings' vertices on the fine grid of `geometry.polygons_to_rle`
    length: (P,) int64, how many of them each ring has
    sizes: (P, 2) int, (H, W) of the masks
    """
    library = native()
    if library is None or not len(length) or sizes.min() < 0 or sizes.max() > _LONGEST:
        return None
    sizes = np.ascontiguousarray(sizes, np.int32)
    n_change, offsets = np.empty(len(length), np.int64), np.zeros(len(length) + 1, np.int64)
    parts = (x, y, np.cumsum(length), sizes)
    shared = [numpy_address(part) for part in parts]
    plan = PolygonsPlan(len(length), 0, 0)
    library.kernels["polygon_changes"](
        ctypes.addressof(plan), (ctypes.c_void_p * 5)(*shared, numpy_address(n_change)), 1
    )
    counts = np.empty(int(n_change.sum()) + len(length), np.int32)
    plan.most_changes, plan.most_columns = int(n_change.max()), int(sizes[:, 1].max()) + 2
    arrays = (ctypes.c_void_p * 6)(*shared, numpy_address(counts), numpy_address(offsets[1:]))
    if library.kernels["polygon_runs"](ctypes.addressof(plan), arrays, 1):
        raise MemoryError
    return counts[: offsets[-1]], offsets
