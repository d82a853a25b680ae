"""Local response normalization by kernels/response_norm.cu."""

from typing import Any

import numpy as np

from cvzoo.backends.cuda.kernel_module import KernelModule, blocks
from cvzoo.backends.cuda.pixel_rows import as_channels, new_rows, pixel_rows
from cvzoo.backends.cuda.suffix import suffix
from cvzoo.backends.cupy.library import cupy

__all__ = ["local_response_norm", "local_response_norm_grad"]

_KERNELS = KernelModule("response_norm")
_BLOCK = (256, 1, 1)


def _numbers(x: Any, n: int, k: float, alpha: float, beta: float) -> tuple:
    below = n // 2
    return (np.int64(x.size), np.int32(x.shape[-1]), np.int32(below), np.int32(n - 1 - below)) + tuple(
        np.float64(v) for v in (k, alpha, beta)
    )


def local_response_norm(x: Any, *, n: int, k: float, alpha: float, beta: float) -> Any:
    """As AbstractBackend.local_response_norm says; of an even n, one more channel lies below than above."""
    if not x.size:
        return as_channels(new_rows(x))
    x = pixel_rows(x)
    y = cupy().empty_like(x)
    name = f"lrn_forward_{suffix(x.dtype)}"
    _KERNELS.launch(name, blocks(x.size), _BLOCK, (x, y, *_numbers(x, n, k, alpha, beta)))
    return as_channels(y)


def local_response_norm_grad(gy: Any, x: Any, *, n: int, k: float, alpha: float, beta: float) -> Any:
    """As AbstractBackend.local_response_norm_grad says."""
    if not x.size:
        return as_channels(new_rows(x))
    xp = cupy()
    x, gy = pixel_rows(x), pixel_rows(gy)
    terms = xp.empty(x.shape, np.float64 if x.dtype == np.float64 else np.float32)
    gx = xp.empty_like(x)
    name, grid, numbers = suffix(x.dtype), blocks(x.size), _numbers(x, n, k, alpha, beta)
    _KERNELS.launch(f"lrn_terms_{name}", grid, _BLOCK, (gy, x, terms, *numbers))
    _KERNELS.launch(f"lrn_gradient_{name}", grid, _BLOCK, (gy, x, terms, gx, *numbers))
    return as_channels(gx)
