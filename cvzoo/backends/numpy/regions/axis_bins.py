"""Whole pixels shared out to bins, one axis at a time."""

from typing import NamedTuple

import numpy as np


class AxisBins(NamedTuple):
    """Half-open ranges of pixels: (R, O), (R, O); an empty bin has stop <= start. They may overlap."""

    start: np.ndarray
    stop: np.ndarray


def rounded_bins(bbox_start, bbox_stop, n_out: int, size: int, *, inclusive: bool) -> AxisBins:
    """Bins of regions whose edges are rounded to pixels first (Fast R-CNN); a region has at least one pixel.

    bbox_start, bbox_stop: (R,) float32, pixels of the map
    inclusive: the last pixel belongs to the region (Caffe)
    """
    start, stop = _round_half_away(bbox_start), _round_half_away(bbox_stop)
    length = np.maximum(stop - start + int(inclusive), 1).astype(np.float32)
    return _bins(start.astype(np.float32), length / np.float32(n_out), n_out, size, start_first=False)


def real_bins(bbox_start, bbox_stop, n_out: int, size: int) -> AxisBins:
    """Bins of regions as they are, at least a tenth of a pixel wide (R-FCN as in ChainerCV)."""
    length = np.maximum(bbox_stop - bbox_start, np.float32(0.1))
    return _bins(bbox_start, length / np.float32(n_out), n_out, size, start_first=True)


def _bins(start, step, n_out: int, size: int, *, start_first: bool) -> AxisBins:
    edge = np.arange(n_out + 1, dtype=np.float32) * step[:, None]
    start = start[:, None]
    if start_first:  # the region's place counts in the rounding
        low, high = np.floor(edge[:, :-1] + start), np.ceil(edge[:, 1:] + start)
    else:
        low, high = np.floor(edge[:, :-1]) + start, np.ceil(edge[:, 1:]) + start
    low, high = (np.clip(each, 0, size).astype(np.intp) for each in (low, high))
    return AxisBins(low, high)


def _round_half_away(x):
    """As C's round() does: numpy.round takes halves to the even neighbour."""
    return np.trunc(x + np.copysign(np.float32(0.5), x)).astype(np.intp)
