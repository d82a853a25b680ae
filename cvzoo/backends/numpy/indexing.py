"""Indexing, accumulation at indices, and embeddings."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.arrays import is_device_array
from cvzoo.errors.exceptions import DtypeError

__all__ = ["add_at", "as_index", "embed_id", "embed_id_grad", "take"]


def as_index(index: tuple) -> tuple:
    """See `AbstractBackend.as_index`: the index itself."""
    if any(is_device_array(part) for part in index):
        raise DtypeError("x[...]: the indices are on a GPU, x does not", hint="x.to_device('gpu:0')")
    return index


def take(x: np.ndarray, index: tuple) -> np.ndarray:
    """See `AbstractBackend.take`."""
    return x[as_index(index)]


def add_at(out: np.ndarray, index: tuple, values: np.ndarray) -> None:
    """See `AbstractBackend.add_at`."""
    np.add.at(out, index, values)


def embed_id(w: np.ndarray, ids: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """See `AbstractBackend.embed_id`."""
    if mask is None:
        return w[ids]
    return np.where(mask[..., None], w[np.where(mask, ids, 0)], w.dtype.type(0))


def embed_id_grad(gy: np.ndarray, ids: np.ndarray, mask: np.ndarray | None, w_shape: Sequence[int]) -> np.ndarray:
    """See `AbstractBackend.embed_id_grad`."""
    gw = np.zeros(tuple(w_shape), gy.dtype)
    if mask is None:
        np.add.at(gw, ids, gy)
    else:
        np.add.at(gw, ids[mask], gy[mask])
    return gw
