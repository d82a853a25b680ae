"""Non-maximum suppression by our own kernel: each box is compared with those that were kept before."""

import ctypes

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import SuppressionPlan

_MOST = 1 << 14  # boxes: comparisons grow with the square of their number, those of sorted ones do not
_Arrays = ctypes.c_void_p * 3


def kept_natively(bbox: np.ndarray, thresh: np.float32, limit: int | None) -> np.ndarray | None:
    """The rows of bbox (R, 4) float32, best first, that stay, at most `limit`; None if NumPy must compute them."""
    library = native()
    n = len(bbox)
    if library is None or n > _MOST:
        return None
    bbox = np.ascontiguousarray(bbox)
    rows, count = np.empty(n, np.int64), ctypes.c_int64()
    plan = SuppressionPlan(n, n if limit is None else min(limit, n), thresh)
    arrays = _Arrays(numpy_address(bbox), numpy_address(rows), ctypes.addressof(count))
    if library.kernels["suppression"](ctypes.addressof(plan), arrays, 1):
        raise MemoryError
    return rows[: count.value]
