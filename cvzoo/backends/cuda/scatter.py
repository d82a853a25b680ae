"""Deterministic scatter-add on a GPU."""

import hashlib
import math

import numpy as np

from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.gpu_kernels import KernelModule, blocks, suffix
from cvzoo.backends.transfer import constants
from cvzoo.typing.aliases import Array

_MODULE = KernelModule("scatter")
_THREADS = 128
_MOST_ROWS = 65535  # of blocks in a grid
_MOST_COMPARISONS = 1 << 28  # of 32 indices by a warp; beyond it CuPy's atomic additions are faster
_MOST_CACHED = 1 << 20  # bytes of an index
_MOST_KEYS = 256
_copied_before: dict[tuple, bool] = {}  # keys of indices, the latest last
_FLOATS = ("float32", "float64", "float16", "bfloat16")


def as_index(index: tuple) -> tuple:
    """See `AbstractBackend.as_index`; copies on the GPU are cached.

    Boolean masks become integer indices, as the CPU can count them without synchronization.
    """
    parts: list[object] = []
    for part in index:
        if not isinstance(part, np.ndarray):
            parts.append(part)
        elif part.dtype.kind == "b":
            parts.extend(_copied(positions) for positions in np.nonzero(part))
        else:
            parts.append(_copied(part))
    return tuple(parts)


def _copied(array: np.ndarray) -> Array:
    array = array.astype(np.int64)
    if array.nbytes > _MOST_CACHED:
        return cupy().asarray(array)
    key = "index", array.shape, hashlib.blake2b(array.tobytes(), digest_size=16).digest()
    if _copied_before.pop(key, None) is None:  # cached at its second use: most belong to one batch
        while len(_copied_before) >= _MOST_KEYS:
            _copied_before.pop(next(iter(_copied_before)), None)
        _copied_before[key] = True
        return cupy().asarray(array)
    _copied_before[key] = True
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
    rows = _as_rows(out.shape, index)
    if rows is None:
        positions = xp.arange(out.size, dtype=np.int64).reshape(out.shape)[index]
        before, ids = 1, positions.reshape(-1)
    else:
        before, ids = rows
    after = values.size // (before * ids.size)
    n_row = out.size // (before * after)
    if out.dtype.name not in _FLOATS or before * n_row * -(-ids.size // 32) > _MOST_COMPARISONS:
        xp.add.at(out, index, values)
        return
    # the kernel needs C-contiguous arrays; a strided `out` is copied and written back
    dense = out if out.flags.c_contiguous else xp.ascontiguousarray(out)
    add_rows(dense, ids, xp.ascontiguousarray(values), before=before, n_row=n_row)
    if dense is not out:
        out[...] = dense


def _as_rows(shape: tuple[int, ...], index: tuple) -> tuple[int, Array] | None:
    """(product of the sizes before the indexed axis, ids) if the index is one array among full slices, else None."""
    whole = slice(None)
    index = index[:-1] if index and index[-1] is Ellipsis else index
    if any(not (isinstance(part, slice) and part == whole) for part in index[:-1]):
        return None
    axis = len(index) - 1
    if axis < 0 or not isinstance(index[axis], cupy().ndarray) or index[axis].dtype.kind == "b":
        return None
    return math.prod(shape[:axis]), index[axis].reshape(-1).astype(np.int64)


def add_rows(out: Array, ids: Array, rows: Array, *, before: int, n_row: int) -> None:
    """Rows added to rows of `out` in order: out[:, ids[k]] += rows[:, k].

    out: (before, L, D) floats, contiguous
    ids: (N,) int64; negative ones count from the end, those out of range are ignored
    rows: (before, N, D) in out's dtype, contiguous
    """
    width = out.size // max(before * n_row, 1)
    if not rows.size or not out.size:
        return
    threads = min(_THREADS, -(-width // 32) * 32)
    grid = (min(before * n_row, (1 << 31) - 1), min(-(-width // threads), _MOST_ROWS), 1)
    sizes = [np.int64(n) for n in (before, n_row, ids.size, width)]
    _MODULE.launch(f"scatter_add_rows_{suffix(out.dtype)}", grid, (threads, 1, 1), (out, ids, rows, *sizes))


def add_pixels(out: Array, where: Array, x: Array) -> None:
    """x added to planes: out[b, where[b, k, c], c] += x[b, k, c].

    out: (B, L, C) float32 or float64; where: (B, N, C) int64; x: (B, N, C); all contiguous
    Indices outside of the plane are ignored.
    """
    b, n_row, c = out.shape
    if not x.size or not out.size:
        return
    # each part reads all indices of its plane: more parts than keep the GPU busy would only read them more often
    parts = max(1, min(n_row // 64, (1 << 16) // (b * c)))
    sizes = (np.int64(b), np.int64(where.shape[1]), np.int64(n_row), np.int32(c), np.int64(parts))
    grid = blocks(b * parts * c, _THREADS)
    _MODULE.launch(f"scatter_add_pixels_{suffix(out.dtype)}", grid, (_THREADS, 1, 1), (out, where, x, *sizes))


def take_pixels(planes: Array, where: Array) -> Array:
    """y (B, N, C): planes[b, where[b, k, c], c] of planes (B, L, C) and where (B, N, C) int64; 0 outside of planes."""
    b, n_row, c = planes.shape
    y = cupy().empty(where.shape, planes.dtype)
    if y.size:
        sizes = (np.int64(b), np.int64(where.shape[1]), np.int64(n_row), np.int32(c))
        grid = blocks(y.size, _THREADS)
        _MODULE.launch(f"scatter_take_pixels_{suffix(y.dtype)}", grid, (_THREADS, 1, 1), (y, where, planes, *sizes))
    return y
