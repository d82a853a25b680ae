"""Bilinear samples and averages of a map as small dense matrices, one for each region and axis."""

from typing import NamedTuple

import numpy as np


class AxisBins(NamedTuple):
    """Half-open ranges of pixels: (R, O), (R, O); an empty bin has stop <= start. They may overlap."""

    start: np.ndarray
    stop: np.ndarray


def rounded_bins(bbox_start: np.ndarray, bbox_stop: np.ndarray, n_out: int, size: int, *, inclusive: bool) -> AxisBins:
    """Bins of regions whose edges are rounded to pixels first (Fast R-CNN); a region has at least one pixel.

    bbox_start, bbox_stop: (R,) float32, pixels of the map
    inclusive: the last pixel belongs to the region (Caffe)
    """
    start, stop = _round_half_away(bbox_start), _round_half_away(bbox_stop)
    length = np.maximum(stop - start + int(inclusive), 1).astype(np.float32)
    return _bins(start.astype(np.float32), length / np.float32(n_out), n_out, size, start_first=False)


def real_bins(bbox_start: np.ndarray, bbox_stop: np.ndarray, n_out: int, size: int) -> AxisBins:
    """Bins of regions as they are, at least a tenth of a pixel wide (R-FCN as in ChainerCV)."""
    length = np.maximum(bbox_stop - bbox_start, np.float32(0.1))
    return _bins(bbox_start, length / np.float32(n_out), n_out, size, start_first=True)


def _bins(start: np.ndarray, step: np.ndarray, n_out: int, size: int, *, start_first: bool) -> AxisBins:
    edge = np.arange(n_out + 1, dtype=np.float32) * step[:, None]
    start = start[:, None]
    if start_first:  # the region's place counts in the rounding
        low, high = np.floor(edge[:, :-1] + start), np.ceil(edge[:, 1:] + start)
    else:
        low, high = np.floor(edge[:, :-1]) + start, np.ceil(edge[:, 1:]) + start
    low, high = (np.clip(each, 0, size).astype(np.intp) for each in (low, high))
    return AxisBins(low, high)


def _round_half_away(x: np.ndarray) -> np.ndarray:
    """As C's round() does: numpy.round takes halves to the even neighbour."""
    return np.trunc(x + np.copysign(np.float32(0.5), x)).astype(np.intp)


class AxisSamples(NamedTuple):
    """The samples of R regions along one axis: O cells with S samples each, of which a region uses `count`."""

    low: np.ndarray  # (R, O, S) the pixel before the sample
    high: np.ndarray  # (R, O, S) the pixel after it
    fraction: np.ndarray  # (R, O, S) float32, how far it is from the one to the other
    valid: np.ndarray  # (R, O, S) bool: it belongs to the cell, and is on the map or less than a pixel beside it
    count: np.ndarray  # type: ignore[assignment]  # (R,) float32, samples in a cell, at least 1


def axis_samples(
    start: np.ndarray, stop: np.ndarray, n_out: int, sampling: int, size: int, aligned: bool
) -> AxisSamples:
    """The samples of regions start..stop (R,), (R,) float32 in pixels of a map of `size` pixels.

    sampling: samples in a cell; 0 for one per pixel, rounded up
    aligned: pixel centres lie at half; otherwise they are on integers, and a region is at least a pixel wide

    All in float32, in the order that other implementations compute in: whether a cell of just two pixels gets two
    samples or three depends on the last bit.
    """
    one, half = np.float32(1), np.float32(0.5)
    if aligned:
        start, stop = start - half, stop - half
    length = stop - start
    if not aligned:
        length = np.maximum(length, one)
    cell = length / np.float32(n_out)
    if sampling:
        grid = np.full(len(start), sampling)
    else:
        grid = np.clip(np.ceil(cell), 0, 4 * size).astype(int)  # four samples per pixel of the map suffice
    n = int(grid.max(initial=1))
    count = np.maximum(grid, 1).astype(np.float32)
    place = start[:, None, None] + np.arange(n_out, dtype=np.float32)[:, None] * cell[:, None, None]
    sample = np.arange(n, dtype=np.float32) + half
    place = place + sample * cell[:, None, None] / count[:, None, None]  # (R, O, S)
    valid = (place >= -1) & (place <= size) & (np.arange(n) < grid[:, None, None])
    place = np.clip(place, 0, size - 1)
    low = place.astype(np.intp)
    return AxisSamples(low, np.minimum(low + 1, size - 1), place - low, valid, count)


class AxisWeights(NamedTuple):
    """The weights of each of O cells for each pixel of the interval of a map that a region covers."""

    start: np.ndarray  # (R,) the interval's first pixel
    length: np.ndarray  # (R,) how many pixels it has
    weights: np.ndarray  # (R, O, longest), zero past the region's own length


def sample_weights(samples: AxisSamples) -> AxisWeights:
    """The mean of each cell's samples; those that are not valid count as zeros."""
    low, high, fraction, valid, count = samples
    if not len(count):
        return AxisWeights(np.zeros(0, int), np.zeros(0, int), np.zeros((0, low.shape[1], 1), np.float32))
    # valid samples only: a region far beyond the edge needs only its part on the map
    start = np.where(valid, low, low.max()).min(axis=(1, 2))
    length = np.maximum(np.where(valid, high, 0).max(axis=(1, 2)) - start, 0) + 1
    weights = np.zeros((*low.shape[:2], int(length.max())), np.float32)
    share = valid / count[:, None, None]
    r, o = np.ogrid[: low.shape[0], : low.shape[1]]
    for s in range(low.shape[2]):
        here = valid[:, :, s]
        for pixel, weight in ((low, 1 - fraction), (high, fraction)):
            place = np.where(here, pixel[:, :, s] - start[:, None], 0)
            weights[r, o, place] += weight[:, :, s] * share[:, :, s]
    return AxisWeights(start, length, weights)


def bin_weights(bins: AxisBins, size: int) -> AxisWeights:
    """The mean of each bin's pixels on a map of `size`; an empty bin has none."""
    start, stop = bins
    if not len(start):
        return AxisWeights(np.zeros(0, int), np.zeros(0, int), np.zeros((0, start.shape[1], 1), np.float32))
    first = np.minimum(start.min(axis=1), size - 1)
    length = np.maximum(stop.max(axis=1) - first, 1)
    pixel = first[:, None, None] + np.arange(int(length.max()))
    inside = (pixel >= start[:, :, None]) & (pixel < stop[:, :, None])
    return AxisWeights(first, length, inside / np.maximum(stop - start, 1).astype(np.float32)[:, :, None])
