"""Where bilinear interpolation reads a map, one axis at a time: a cell's samples are a grid."""

from typing import NamedTuple

import numpy as np


class AxisSamples(NamedTuple):
    """The samples of R regions along one axis: O cells with S samples each, of which a region uses `count`."""

    low: np.ndarray  # (R, O, S) the pixel before the sample
    high: np.ndarray  # (R, O, S) the pixel after it
    fraction: np.ndarray  # (R, O, S) float32, how far it is from the one to the other
    seen: np.ndarray  # (R, O, S) bool: it belongs to the cell, and lies on the map or less than a pixel beside it
    count: np.ndarray  # (R,) float32, samples in a cell, at least 1


def axis_samples(start, stop, n_out: int, sampling: int, size: int, aligned: bool) -> AxisSamples:
    """The samples of regions start..stop (R,), (R,) float32 in pixels of a map of `size` pixels.

    sampling: samples in a cell; 0 for one a pixel, rounded up
    aligned: pixel centres lie at half; otherwise they lie on whole numbers, and a region is at least a pixel wide

    All in float32, in the order that other implementations compute in: whether a cell of just two pixels gets two
    samples or three hangs on the last bit.
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
        grid = np.clip(np.ceil(cell), 0, 4 * size).astype(int)  # a cell of four maps is seen well enough
    n = int(grid.max(initial=1))
    count = np.maximum(grid, 1).astype(np.float32)
    place = start[:, None, None] + np.arange(n_out, dtype=np.float32)[:, None] * cell[:, None, None]
    sample = np.arange(n, dtype=np.float32) + half
    place = place + sample * cell[:, None, None] / count[:, None, None]  # (R, O, S)
    seen = (place >= -1) & (place <= size) & (np.arange(n) < grid[:, None, None])
    place = np.clip(place, 0, size - 1)
    low = place.astype(np.intp)
    return AxisSamples(low, np.minimum(low + 1, size - 1), place - low, seen, count)
