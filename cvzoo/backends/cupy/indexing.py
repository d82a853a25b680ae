"""Indexing, deterministic accumulation at indices, and embeddings; indices are not checked."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.cuda.scatter import add_at, add_rows, as_index
from cvzoo.backends.cupy.library import cupy
from cvzoo.typing.aliases import Array

__all__ = ["add_at", "as_index", "embed_id", "embed_id_grad", "take"]


def take(x: Array, index: tuple) -> Array:
    """See `AbstractBackend.take`; indices outside of x wrap around."""
    return x[as_index(index)]


def embed_id(w: Array, ids: Array, mask: Array | None) -> Array:
    """See `AbstractBackend.embed_id`; rows of ids out of range are NaN."""
    xp = cupy()
    valid = (ids >= 0) & (ids < len(w))
    rows = xp.where(valid[..., None], w[ids], w.dtype.type(np.nan))
    rows = rows if mask is None else xp.where(mask[..., None], rows, w.dtype.type(0))
    return rows.astype(w.dtype, copy=False)  # CuPy promotes bfloat16 to float32


def embed_id_grad(gy: Array, ids: Array, mask: Array | None, w_shape: Sequence[int]) -> Array:
    """See `AbstractBackend.embed_id_grad`; ids out of range are ignored."""
    xp = cupy()
    gw = xp.zeros(tuple(w_shape), gy.dtype)
    valid = ids >= 0 if mask is None else mask & (ids >= 0)
    rows = xp.where(valid, ids, len(gw)).reshape(-1).astype(np.int64)
    add_rows(gw, rows, xp.ascontiguousarray(gy), before=1, n_row=len(gw))
    return gw
