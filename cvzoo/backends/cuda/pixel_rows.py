"""Arrays (B, C, ...) as rows of channels, one a pixel: how most of our kernels read photos."""

from typing import Any

import numpy as np

from cvzoo.backends.cupy.library import cupy


def pixel_rows(x: Any) -> Any:
    """(B, ..., C) in C order of x (B, C, ...): a view if x lies channels-last, else a copy."""
    rows = x.transpose(0, 2, 3, 1) if x.ndim == 4 else x.transpose(0, *range(2, x.ndim), 1)
    return rows if rows.flags.c_contiguous else cupy().ascontiguousarray(rows)


def new_rows(x: Any) -> Any:
    """(B, ..., C) of undefined values for an array like x (B, C, ...)."""
    return cupy().empty((x.shape[0], *x.shape[2:], x.shape[1]), x.dtype)


def as_channels(rows: Any) -> Any:
    """(B, C, ...) of (B, ..., C): with 4 axes a view that lies channels-last, else in C order."""
    if rows.ndim == 4:
        return rows.transpose(0, 3, 1, 2)
    if rows.ndim == 2:
        return rows
    return cupy().ascontiguousarray(rows.transpose(0, -1, *range(1, rows.ndim - 1)))


def are_whole(channels: int, *arrays: Any) -> np.int32:
    """1 if kernels may move 8 channels at a time in accesses of 16 bytes, else 0; an array may be None."""
    if channels % 8:
        return np.int32(0)
    return np.int32(all(a is None or a.data.ptr % 16 == 0 for a in arrays))


def lanes_for(channels: int) -> int:
    """How many threads, of eight channels each, stand side by side in a block: a power of two up to 8."""
    lanes = 1
    while lanes < 8 and lanes * 8 < channels:
        lanes *= 2
    return lanes


def as_vector(v: Any, dtype: Any) -> Any:
    """v without gaps and of that dtype: itself if it is so already."""
    if v.dtype == dtype and v.flags.c_contiguous:
        return v
    return cupy().ascontiguousarray(v, dtype)
