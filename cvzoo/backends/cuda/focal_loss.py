"""The focal loss of many anchors, one integer label per anchor: two launches, without a search for the rare cases.

A label out of range makes the loss NaN.
"""

from typing import Any

import numpy as np

from cvzoo.backends.cuda.kernel_module import blocks, suffix
from cvzoo.backends.cuda.loss import KERNELS, label_numbers, sum_dtype
from cvzoo.backends.cupy.library import cupy

__all__ = ["focal_loss", "focal_loss_grad"]

_THREADS = 256
_BLOCKS = 1024  # that share the scores: as many partial sums


def focal_loss(x: Any, t: Any, *, weights: tuple[float, float], gamma: float) -> Any:
    """See `AbstractBackend.focal_loss`."""
    xp = cupy()
    y = xp.empty((), x.dtype)
    if not x.size:
        y.fill(0)
        return y
    x, t = xp.ascontiguousarray(x), label_numbers(xp, t)
    wide = sum_dtype(x.dtype)
    grid = blocks(x.size, _THREADS, _BLOCKS)
    partial = xp.empty(grid[0], wide)
    numbers = [wide(number) for number in (*weights, gamma)]
    KERNELS.launch(
        f"focal_loss_{suffix(t.dtype)}_{suffix(x.dtype)}",
        grid,
        (_THREADS, 1, 1),
        (x, t, partial, np.int64(x.size), np.int32(x.shape[-1]), *numbers),
    )
    KERNELS.launch(
        f"sum_of_partial_{suffix(x.dtype)}", (1, 1, 1), (_THREADS, 1, 1), (partial, y, np.int32(partial.size))
    )
    return y


def focal_loss_grad(gy: Any, x: Any, t: Any, *, weights: tuple[float, float], gamma: float) -> Any:
    """See `AbstractBackend.focal_loss_grad`."""
    xp = cupy()
    lying, t = xp.ascontiguousarray(x), label_numbers(xp, t)
    gx = xp.empty_like(lying)
    if gx.size:
        wide = sum_dtype(x.dtype)
        KERNELS.launch(
            f"focal_loss_grad_{suffix(t.dtype)}_{suffix(x.dtype)}",
            blocks(gx.size, most=2**31 - 1),
            (_THREADS, 1, 1),
            (
                gy,
                lying,
                t,
                gx,
                np.int64(gx.size),
                np.int32(x.shape[-1]),
                *[wide(number) for number in (*weights, gamma)],
            ),
        )
    return gx
