"""RoI max pooling of regions whose edges are rounded to integer pixels."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cvzoo.backends.numpy.regions.axis_weights import AxisBins, AxisSamples, rounded_bins
from cvzoo.backends.regions import Cells, Regions


class CellSamples(NamedTuple):
    """S samples in each of M = R * OH * OW cells, each of up to four pixels: offsets in the map (H * W)."""

    places: np.ndarray  # (M, S, 4)
    weights: np.ndarray  # (M, S, 4) float32
    valid: np.ndarray  # (M, S) bool
    share: np.ndarray  # (M,) float32, one over the number of samples, valid or not


def cell_samples(rows: AxisSamples, columns: AxisSamples, width: int) -> CellSamples:
    """The grid of a cell's samples, row by row; `width` is the map's."""

    def crossed(a: np.ndarray, b: np.ndarray, join: Callable[..., np.ndarray]) -> np.ndarray:
        """(R, OH, OW, SY, SX) of (R, OH, SY) and (R, OW, SX)."""
        return join(a[:, :, None, :, None], b[:, None, :, None, :])

    corners, weights = [], []
    for y, wy in ((rows.low, 1 - rows.fraction), (rows.high, rows.fraction)):
        for x, wx in ((columns.low, 1 - columns.fraction), (columns.high, columns.fraction)):
            corners.append(crossed(y * width, x, np.add))
            weights.append(crossed(wy, wx, np.multiply))
    valid = crossed(rows.valid, columns.valid, np.logical_and)
    r, oh, ow, sy, sx = valid.shape
    m = (r * oh * ow, sy * sx)
    share = np.broadcast_to((1 / (rows.count * columns.count))[:, None], (r, oh * ow)).reshape(-1)
    return CellSamples(
        np.stack(corners, axis=-1).reshape(*m, 4),
        (np.stack(weights, axis=-1) * valid[..., None]).astype(np.float32).reshape(*m, 4),
        valid.reshape(m),
        share.astype(np.float32),
    )


def cell_pixels(rows: AxisBins, columns: AxisBins, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Offsets (M, K) of the pixels of each bin, and (M, K) bool, which of them it has."""

    def listed(bins: AxisBins) -> tuple[np.ndarray, np.ndarray]:
        n = int(max((bins.stop - bins.start).max(initial=1), 1))
        pixels = bins.start[:, :, None] + np.arange(n)
        inside = pixels < bins.stop[:, :, None]
        return np.where(inside, pixels, 0), inside

    (y, in_y), (x, in_x) = listed(rows), listed(columns)
    places = y[:, :, None, :, None] * width + x[:, None, :, None, :]
    inside = in_y[:, :, None, :, None] & in_x[:, None, :, None, :]
    m = (len(y) * y.shape[1] * x.shape[1], y.shape[2] * x.shape[2])
    return places.reshape(m), inside.reshape(m)


def rounded_maxima(
    x: np.ndarray, bbox: np.ndarray, rois: Regions, *, with_argmax: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """(R, OH, OW, C) of maps x (B, H, W, C) and bbox (R, 4) in their pixels; and `with_argmax`, of the same shape:
    the index of the first maximum among the B * H * W pixels, -1 in an empty bin."""
    inclusive = rois.cells == Cells.ROUNDED_INCLUSIVE
    y_min, x_min, y_max, x_max = bbox.T
    rows = rounded_bins(y_min, y_max, rois.outsize[0], x.shape[1], inclusive=inclusive)
    columns = rounded_bins(x_min, x_max, rois.outsize[1], x.shape[2], inclusive=inclusive)
    return (_maxima_and_places if with_argmax else _maxima)(x, rois.image, rows, columns)


def _maxima(x: np.ndarray, indices: np.ndarray, rows: AxisBins, columns: AxisBins) -> tuple[np.ndarray, None]:
    """Over rows first, then over columns: each pixel is read about once."""
    oh, ow = rows.start.shape[1], columns.start.shape[1]
    c = x.shape[3]
    y = np.zeros((len(indices), oh, ow, c), x.dtype)
    for r, i in enumerate(indices.tolist()):
        across = list(zip(columns.start[r].tolist(), columns.stop[r].tolist()))
        left, right = min(across)[0], max(stop for _, stop in across)
        if left >= right:
            continue
        of_rows = np.empty((oh, right - left, c), x.dtype)
        nonempty = []
        for o, (top, bottom) in enumerate(zip(rows.start[r].tolist(), rows.stop[r].tolist())):
            if top < bottom:
                nonempty.append(o)
                np.maximum.reduce(x[i, top:bottom, left:right], axis=0, out=of_rows[o])
        if len(nonempty) < oh:
            of_rows = of_rows[nonempty]
        for o, (start, stop) in enumerate(across):
            if start < stop and nonempty:
                y[r, nonempty, o] = np.maximum.reduce(of_rows[:, start - left : stop - left], axis=1)
    return y, None


def _maxima_and_places(
    x: np.ndarray, indices: np.ndarray, rows: AxisBins, columns: AxisBins
) -> tuple[np.ndarray, np.ndarray]:
    """Also (R, OH, OW, C), the index of the first maximum among the B * H * W pixels; -1 in an empty bin."""
    oh, ow = rows.start.shape[1], columns.start.shape[1]
    _, h, w, c = x.shape
    y = np.zeros((len(indices), oh, ow, c), x.dtype)
    places = np.full(y.shape, -1, np.intp)
    for r, i in enumerate(indices.tolist()):
        for oy, (top, bottom) in enumerate(zip(rows.start[r].tolist(), rows.stop[r].tolist())):
            for ox, (left, right) in enumerate(zip(columns.start[r].tolist(), columns.stop[r].tolist())):
                if top >= bottom or left >= right:
                    continue
                window = x[i, top:bottom, left:right].reshape(-1, c)
                best = window.argmax(axis=0)
                y[r, oy, ox] = window[best, np.arange(c)]
                places[r, oy, ox] = (i * h + top + best // (right - left)) * w + left + best % (right - left)
    return y, places
