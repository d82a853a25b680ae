"""The maxima of regions whose edges are rounded to whole pixels."""

import numpy as np

from cvzoo.backends.numpy.regions.axis_bins import AxisBins, rounded_bins
from cvzoo.backends.regions import Cells, Regions


def rounded_maxima(
    x: np.ndarray, bbox: np.ndarray, rois: Regions, *, remember: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """(R, OH, OW, C) of maps x (B, H, W, C) and bbox (R, 4) in their pixels; and, to remember them, the same shape:
    where the first of the greatest lies among the B * H * W pixels, -1 in an empty bin."""
    inclusive = rois.cells == Cells.ROUNDED_INCLUSIVE
    y_min, x_min, y_max, x_max = bbox.T
    rows = rounded_bins(y_min, y_max, rois.outsize[0], x.shape[1], inclusive=inclusive)
    columns = rounded_bins(x_min, x_max, rois.outsize[1], x.shape[2], inclusive=inclusive)
    return (_maxima_and_places if remember else _maxima)(x, rois.photo, rows, columns)


def _maxima(x: np.ndarray, indices: np.ndarray, rows: AxisBins, columns: AxisBins) -> tuple[np.ndarray, None]:
    """Of rows first, then of columns: each pixel is looked at about once."""
    oh, ow = rows.start.shape[1], columns.start.shape[1]
    c = x.shape[3]
    y = np.zeros((len(indices), oh, ow, c), x.dtype)
    for r, i in enumerate(indices.tolist()):
        across = list(zip(columns.start[r].tolist(), columns.stop[r].tolist()))
        left, right = min(across)[0], max(stop for _, stop in across)
        if left >= right:
            continue
        of_rows = np.empty((oh, right - left, c), x.dtype)
        seen = []
        for o, (top, bottom) in enumerate(zip(rows.start[r].tolist(), rows.stop[r].tolist())):
            if top < bottom:
                seen.append(o)
                np.maximum.reduce(x[i, top:bottom, left:right], axis=0, out=of_rows[o])
        if len(seen) < oh:
            of_rows = of_rows[seen]
        for o, (start, stop) in enumerate(across):
            if start < stop and seen:
                y[r, seen, o] = np.maximum.reduce(of_rows[:, start - left : stop - left], axis=1)
    return y, None


def _maxima_and_places(
    x: np.ndarray, indices: np.ndarray, rows: AxisBins, columns: AxisBins
) -> tuple[np.ndarray, np.ndarray]:
    """Also (R, OH, OW, C), where the first of the greatest lies among the B * H * W pixels; -1 in an empty bin."""
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
