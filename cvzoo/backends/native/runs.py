"""Run-length encoded masks by our own kernels."""

import ctypes

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import RunsPlan
from cvzoo.backends.openmp import threads_now

Runs = tuple[np.ndarray, np.ndarray]  # counts (N,) int32, offsets (R + 1,) int64


def differences_natively(a: Runs, b: Runs, index_a: np.ndarray, index_b: np.ndarray) -> np.ndarray | None:
    """(P,) int64, as `geometry.rle_iou.rle_difference`; None if NumPy must count."""
    library = native()
    if library is None:
        return None
    out = np.empty(len(index_a), np.int64)
    parts = [np.ascontiguousarray(each) for each in (*a, *b, index_a, index_b)]
    arrays = (ctypes.c_void_p * 7)(*map(numpy_address, parts), numpy_address(out))
    library.kernels["run_difference"](ctypes.addressof(RunsPlan(len(out))), arrays, threads_now()[0])
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
    if library.kernels["run_strings"](ctypes.addressof(RunsPlan(len(stops))), arrays, 1):
        return None
    return counts[: ends[-1] if len(ends) else 0], ends
