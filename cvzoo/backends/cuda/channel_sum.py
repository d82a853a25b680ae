"""Deterministic sums over all axes but the second."""

from typing import Any

import numpy as np

from cvzoo.backends.cuda.elementwise import are_floats
from cvzoo.backends.cuda.kernel_module import KernelModule, suffix
from cvzoo.backends.cupy.library import cupy

_KERNELS = KernelModule("channel_sum")
_ROWS = 128  # that a block sums at least
_SPLITS = 512  # blocks one above the other at most


def channel_sum(x: Any) -> Any:
    """See `AbstractBackend.channel_sum`; float32 is summed as if in float64."""
    xp = cupy()
    if not are_floats(x):
        return x.sum(axis=(0, *range(2, x.ndim)))
    c = x.shape[1]
    wide_dtype = np.float64 if x.dtype == np.float64 else np.float32
    y = xp.empty(c, wide_dtype)
    if not x.size:
        y.fill(0)
        return y
    flat = xp.ascontiguousarray(xp.moveaxis(x, 1, -1))
    m = x.size // c
    # few channels leave threads idle: rows that lie next to each other are summed as channels of their own
    beside = next((k for k in range(max(64 // c, 1), 0, -1) if m % k == 0), 1)
    m, wide = m // beside, c * beside
    splits = min(max(m // _ROWS, 1), _SPLITS)
    step = -(-m // splits)
    splits = -(-m // step)
    partial = xp.empty((splits, wide), wide_dtype)
    _KERNELS.launch(
        f"channel_sum_partial_{suffix(x.dtype)}",
        (-(-wide // 32), splits, 1),
        (32, 8, 1),
        (flat, partial, np.int64(m), np.int32(wide), np.int64(step)),
    )
    _KERNELS.launch(
        f"channel_sum_final_{suffix(y.dtype)}",
        (-(-c // 32), 1, 1),
        (32, 32, 1),
        (partial, y, np.int64(splits * beside), np.int32(c)),
    )
    return y
