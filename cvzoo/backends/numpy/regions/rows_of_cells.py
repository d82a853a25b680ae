"""Feature maps as rows of channels, and the rows that each cell of a region reads: its samples' or its pixels'.

A position-sensitive map has C * G * G channels, channel (c * G + gy) * G + gx; cell (oy, ox) of OH x OW reads
gy = oy * G // OH and gx = ox * G // OW. Source: Dai et al., "R-FCN", 2016.
"""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.numpy.regions.axis_weights import axis_samples, real_bins
from cvzoo.backends.numpy.regions.rounded_maxima import CellSamples, cell_pixels, cell_samples
from cvzoo.backends.regions import Cells, Regions


def row_sums(x: np.ndarray, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(M, C) of x (N, C): y[m] = sum over k of weights[m, k] * x[places[m, k]]; places, weights: (M, K)."""
    y = np.zeros((len(places), x.shape[1]), x.dtype)
    for place, weight in zip(places.T, weights.T):
        # weights of 0 are padding, whose rows are skipped: 0 * inf would be NaN
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
    """(M, C): of each column of x (N, C) the value in row `places` (M, C); 0 where that is -1."""
    return np.where(places < 0, 0, np.take_along_axis(x, np.maximum(places, 0), 0)).astype(x.dtype, copy=False)


def picked_grad(gy: np.ndarray, n_row: int, places: np.ndarray) -> np.ndarray:
    """gx (N, C) of gy (M, C), in one order."""
    c = gy.shape[1]
    gx = np.zeros((n_row, c), gy.dtype)
    if gy.size:
        valid = places >= 0
        flat = (places * c + np.arange(c))[valid]
        # bincount sums in float64, in the order of the regions
        gx.reshape(-1)[:] = np.bincount(flat, weights=gy[valid], minlength=gx.size)
    return gx


def map_rows(x: np.ndarray, rois: Regions) -> np.ndarray:
    """(B * G * G * H * W, C) of maps x (B, C * G * G, H, W)."""
    b, channels, h, w = x.shape
    g = max(rois.group, 1)
    return x.reshape(b, channels // g**2, g, g, h, w).transpose(0, 2, 3, 4, 5, 1).reshape(-1, channels // g**2)


def map_rows_back(rows: np.ndarray, rois: Regions, shape: Sequence[int]) -> np.ndarray:
    """Maps of `shape` (B, C * G * G, H, W) of their rows."""
    b, channels, h, w = shape
    g = max(rois.group, 1)
    return rows.reshape(b, g, g, h, w, channels // g**2).transpose(0, 5, 1, 2, 3, 4).reshape(shape)


def mean_rows(rois: Regions, shape: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """(M, K) rows that each cell reads, and (M, K) float32, their weights in its mean."""
    first = _first_rows(rois, shape)
    if rois.cells == Cells.SAMPLES:
        samples = _samples(rois, shape)
        m, s = samples.valid.shape
        places = (samples.places + first[:, None, None]).reshape(m, 4 * s)
        return places, (samples.weights * samples.share[:, None, None]).reshape(m, 4 * s)
    places, inside = _pixels(rois, shape)
    weights = inside / np.maximum(inside.sum(axis=1, keepdims=True), 1).astype(np.float32)
    return places, weights.astype(np.float32)


def sample_rows(rois: Regions, shape: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """(M * S, 4) rows that each sample of each cell interpolates, and (M * S, 4) float32, their weights."""
    samples = _samples(rois, shape)
    m, s = samples.valid.shape
    places = (samples.places + _first_rows(rois, shape)[:, None, None]).reshape(m * s, 4)
    return places, samples.weights.reshape(m * s, 4)


def greatest_samples(values: np.ndarray, rois: Regions, shape: Sequence[int]) -> np.ndarray:
    """(M, C): index of the first maximum of each cell among the samples (M * S, C); -1 for a cell without any."""
    valid = _samples(rois, shape).valid
    m, s = valid.shape
    best = np.where(valid[:, :, None], values.reshape(m, s, values.shape[1]), -np.inf).argmax(axis=1)
    return np.where(valid.any(axis=1, keepdims=True), best + np.arange(m)[:, None] * s, -1)


def greatest_pixels(rows: np.ndarray, rois: Regions, shape: Sequence[int]) -> np.ndarray:
    """(M, C): the row of the first maximum of each cell; -1 for a cell without pixels."""
    places, inside = _pixels(rois, shape)
    best = np.full((len(places), rows.shape[1]), -np.inf, rows.dtype)
    where = np.full(best.shape, -1, np.intp)
    for place, here in zip(places.T, inside.T):
        used = np.flatnonzero(here)
        values = rows[place[used]]
        # the first pixel always counts, even if it is -inf or NaN
        better = (values > best[used]) | (where[used] < 0)
        best[used] = np.where(better, values, best[used])
        where[used] = np.where(better, place[used, None], where[used])
    return where


def _first_rows(rois: Regions, shape: Sequence[int]) -> np.ndarray:
    """(M,): the first row of the map that each cell reads."""
    _, _, h, w = shape
    oh, ow = rois.outsize
    g = max(rois.group, 1)
    group = (np.arange(oh) * g // oh)[:, None] * g + np.arange(ow) * g // ow
    return ((rois.image.astype(np.intp)[:, None, None] * g * g + group) * h * w).reshape(-1)


def _axes(rois: Regions) -> np.ndarray:
    """y_min, x_min, y_max, x_max, (R,) each, in pixels of the map."""
    return (rois.bbox * np.float32(rois.scales[0])).T


def _samples(rois: Regions, shape: Sequence[int]) -> CellSamples:
    _, _, h, w = shape
    key = "samples", h, w
    if key not in rois.cache:
        y_min, x_min, y_max, x_max = _axes(rois)
        rows = axis_samples(y_min, y_max, rois.outsize[0], rois.sampling[0], h, rois.aligned)
        columns = axis_samples(x_min, x_max, rois.outsize[1], rois.sampling[1], w, rois.aligned)
        rois.cache[key] = cell_samples(rows, columns, w)
    return rois.cache[key]


def _pixels(rois: Regions, shape: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Rows (M, K) that each cell reads, and (M, K) bool, which of them it has."""
    _, _, h, w = shape
    y_min, x_min, y_max, x_max = _axes(rois)
    rows, columns = (real_bins(y_min, y_max, rois.outsize[0], h), real_bins(x_min, x_max, rois.outsize[1], w))
    places, inside = cell_pixels(rows, columns, w)
    return places + _first_rows(rois, shape)[:, None], inside
