"""Deterministic scatter-add on a GPU."""

import hashlib
import math
from typing import Any

import numpy as np

from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.gpu_kernels import KernelModule, blocks, suffix
from cvzoo.backends.transfer import constants
from cvzoo.typing.aliases import Array

_MODULE = KernelModule("scatter")
_THREADS = 128
_MOST_ROWS = 65535  # of blocks in a grid
_MOST_LOOKS = 1 << 28  # comparisons of 32 indices by a warp; from here on CuPy's atomic additions are faster
_KEPT_BYTES = 1 << 20
_REMEMBERED = 256
_seen: dict[tuple, bool] = {}  # indices that were copied before, the latest last
_FLOATS = ("float32", "float64", "float16", "bfloat16")


def as_index(index: tuple) -> tuple:
    """The index with the CPU's arrays copied to the current device, where they are cached.

    Boolean masks become integer indices, as the CPU can count them without synchronization.
    """
    parts: list[Array] = []
    for part in index:
        if not isinstance(part, np.ndarray):
            parts.append(part)
        elif part.dtype.kind == "b":
            parts.extend(_copied(place) for place in np.nonzero(part))
        else:
            parts.append(_copied(part))
    return tuple(parts)


def _copied(array: np.ndarray) -> Array:
    array = array.astype(np.int64)
    if array.nbytes > _KEPT_BYTES:
        return cupy().asarray(array)
    key = "index", array.shape, hashlib.blake2b(array.tobytes(), digest_size=16).digest()
    if _seen.pop(key, None) is None:  # perhaps a batch's own, which never comes again
        while len(_seen) >= _REMEMBERED:
            _seen.pop(next(iter(_seen)), None)
        _seen[key] = True
        return cupy().asarray(array)
    _seen[key] = True
    return constants.get(key, lambda: array)


def add_at(out: Array, index: tuple, values: Array) -> None:
    """`out[index] += values`, accumulated for repeated indices; deterministic.

    out: floating; index: slices, integers and arrays; boolean arrays on the GPU synchronize
    values: in out's dtype, of the shape of out[index]
    Very large cases (2**28 comparisons of 32 indices) use CuPy's atomic additions, which are not deterministic.
    """
    xp = cupy()
    index = as_index(index)
    if not values.size:
        return
    found = _as_rows(out.shape, index)
    if found is None:
        places = xp.arange(out.size, dtype=np.int64).reshape(out.shape)[index]
        before, ids = 1, places.reshape(-1)
    else:
        before, ids = found
    after = values.size // (before * ids.size)
    places = out.size // (before * after)
    if out.dtype.name not in _FLOATS or before * places * -(-ids.size // 32) > _MOST_LOOKS:
        xp.add.at(out, index, values)
        return
    # values contiguous in C order; so is `out`, or it is made so and copied back
    dense = out if out.flags.c_contiguous else xp.ascontiguousarray(out)
    add_rows(dense, ids, xp.ascontiguousarray(values), before=before, places=places)
    if dense is not out:
        out[...] = dense


def _as_rows(shape: tuple[int, ...], index: tuple) -> tuple[int, Any] | None:
    """(product of the sizes before the indexed axis, ids) if the index is one array among full slices, else None."""
    whole = slice(None)
    index = index[:-1] if index and index[-1] is Ellipsis else index
    if any(not (isinstance(part, slice) and part == whole) for part in index[:-1]):
        return None
    axis = len(index) - 1
    if axis < 0 or not isinstance(index[axis], cupy().ndarray) or index[axis].dtype.kind == "b":
        return None
    return math.prod(shape[:axis]), index[axis].reshape(-1).astype(np.int64)


def add_rows(out: Array, ids: Array, rows: Array, *, before: int, places: int) -> None:
    """Rows added to rows of `out` in order: out[:, ids[k]] += rows[:, k].

    out: (before, L, D) floats, contiguous
    ids: (N,) int64; negative ones count from the end, those out of range are ignored
    rows: (before, N, D) in out's dtype, contiguous
    """
    width = out.size // max(before * places, 1)
    if not rows.size or not out.size:
        return
    threads = min(_THREADS, -(-width // 32) * 32)
    grid = (min(before * places, (1 << 31) - 1), min(-(-width // threads), _MOST_ROWS), 1)
    sizes = [np.int64(n) for n in (before, places, ids.size, width)]
    _MODULE.launch(f"scatter_add_rows_{suffix(out.dtype)}", grid, (threads, 1, 1), (out, ids, rows, *sizes))


def add_pixels(out: Array, where: Array, x: Array) -> None:
    """x added to planes: out[b, where[b, k, c], c] += x[b, k, c].

    out: (B, L, C) float32 or float64; where: (B, N, C) int64; x: (B, N, C); all contiguous
    Indices outside of the plane are ignored.
    """
    b, places, c = out.shape
    if not x.size or not out.size:
        return
    parts = max(1, min(places // 64, (1 << 16) // (b * c)))
    sizes = (np.int64(b), np.int64(where.shape[1]), np.int64(places), np.int32(c), np.int64(parts))
    grid = blocks(b * parts * c, _THREADS)
    _MODULE.launch(f"scatter_add_pixels_{suffix(out.dtype)}", grid, (_THREADS, 1, 1), (out, where, x, *sizes))


def take_pixels(planes: Array, where: Array) -> Array:
    """y (B, N, C): planes[b, where[b, k, c], c] of planes (B, L, C) and where (B, N, C) int64; 0 outside of planes."""
    b, places, c = planes.shape
    y = cupy().empty(where.shape, planes.dtype)
    if y.size:
        sizes = (np.int64(b), np.int64(where.shape[1]), np.int64(places), np.int32(c))
        grid = blocks(y.size, _THREADS)
        _MODULE.launch(f"scatter_take_pixels_{suffix(y.dtype)}", grid, (_THREADS, 1, 1), (y, where, planes, *sizes))
    return y
