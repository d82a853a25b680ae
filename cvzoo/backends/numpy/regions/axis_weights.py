"""Averages of a map's pixels as small dense matrices, one for each region and axis."""

from typing import NamedTuple

import numpy as np

from cvzoo.backends.numpy.regions.axis_bins import AxisBins
from cvzoo.backends.numpy.regions.axis_samples import AxisSamples


class AxisWeights(NamedTuple):
    """What each of O cells takes of each pixel of the stretch of a map that a region sees."""

    start: np.ndarray  # (R,) the stretch's first pixel
    length: np.ndarray  # (R,) how many pixels it has
    weights: np.ndarray  # (R, O, longest), zero past the region's own length


def sample_weights(samples: AxisSamples) -> AxisWeights:
    """The mean of each cell's samples; those not seen count as zeros."""
    low, high, fraction, seen, count = samples
    if not len(count):
        return AxisWeights(np.zeros(0, int), np.zeros(0, int), np.zeros((0, low.shape[1], 1), np.float32))
    # what is seen only: a region that hangs far over the edge needs no more than its part on the map
    start = np.where(seen, low, low.max()).min(axis=(1, 2))
    length = np.maximum(np.where(seen, high, 0).max(axis=(1, 2)) - start, 0) + 1
    weights = np.zeros((*low.shape[:2], int(length.max())), np.float32)
    share = seen / count[:, None, None]
    r, o = np.ogrid[: low.shape[0], : low.shape[1]]
    for s in range(low.shape[2]):
        here = seen[:, :, s]
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
