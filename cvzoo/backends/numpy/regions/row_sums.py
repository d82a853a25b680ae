"""Sparse weighted sums of rows, and their transpose: each result is made of a few rows that an index names."""

import numpy as np


def row_sums(x: np.ndarray, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(M, C) of x (N, C): y[m] = sum over k of weights[m, k] * x[places[m, k]]; places, weights: (M, K)."""
    y = np.zeros((len(places), x.shape[1]), x.dtype)
    for place, weight in zip(places.T, weights.T):
        used = np.flatnonzero(weight)
        if len(used) == len(weight):
            y += weight[:, None] * x[place]
        else:
            y[used] += weight[used, None] * x[place[used]]
    return y


def row_sums_grad(gy: np.ndarray, n_row: int, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """gx (N, C) of gy (M, C), in one order, so that sums are the same bits in every run."""
    gx = np.zeros((n_row, gy.shape[1]), gy.dtype)
    for place, weight in zip(places.T, weights.T):
        used = np.flatnonzero(weight)
        if len(used):
            used = used[np.argsort(place[used], kind="stable")]
            place = place[used]
            first = np.flatnonzero(np.diff(place, prepend=-1))
            gx[place[first]] += np.add.reduceat(weight[used, None] * gy[used], first, axis=0)
    return gx


def picked(x: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(M, C): of each column of x (N, C) the number in the row that `places` (M, C) names; 0 where that is -1."""
    return np.where(places < 0, 0, np.take_along_axis(x, np.maximum(places, 0), 0)).astype(x.dtype, copy=False)


def picked_grad(gy: np.ndarray, n_row: int, places: np.ndarray) -> np.ndarray:
    """gx (N, C) of gy (M, C), in one order."""
    c = gy.shape[1]
    gx = np.zeros((n_row, c), gy.dtype)
    if gy.size:
        kept = places >= 0
        flat = (places * c + np.arange(c))[kept]
        gx.reshape(-1)[:] = np.bincount(flat, weights=gy[kept], minlength=gx.size)
    return gx
