"""The rows of a map that the samples, or the whole pixels, of every cell are made of."""

from typing import NamedTuple

import numpy as np

from cvzoo.backends.numpy.regions.axis_bins import AxisBins
from cvzoo.backends.numpy.regions.axis_weights import AxisSamples


class CellSamples(NamedTuple):
    """S samples in each of M = R * OH * OW cells, each of up to four pixels: offsets in the map (H * W)."""

    places: np.ndarray  # (M, S, 4)
    weights: np.ndarray  # (M, S, 4) float32
    seen: np.ndarray  # (M, S) bool
    share: np.ndarray  # (M,) float32, one over the number of samples, seen or not


def cell_samples(rows: AxisSamples, columns: AxisSamples, width: int) -> CellSamples:
    """The grid of a cell's samples, row by row; `width` is the map's."""

    def crossed(a: np.ndarray, b: np.ndarray, join) -> np.ndarray:
        """(R, OH, OW, SY, SX) of (R, OH, SY) and (R, OW, SX)."""
        return join(a[:, :, None, :, None], b[:, None, :, None, :])

    corners, weights = [], []
    for y, wy in ((rows.low, 1 - rows.fraction), (rows.high, rows.fraction)):
        for x, wx in ((columns.low, 1 - columns.fraction), (columns.high, columns.fraction)):
            corners.append(crossed(y * width, x, np.add))
            weights.append(crossed(wy, wx, np.multiply))
    seen = crossed(rows.seen, columns.seen, np.logical_and)
    r, oh, ow, sy, sx = seen.shape
    m = (r * oh * ow, sy * sx)
    share = np.broadcast_to((1 / (rows.count * columns.count))[:, None], (r, oh * ow)).reshape(-1)
    return CellSamples(
        np.stack(corners, axis=-1).reshape(*m, 4),
        (np.stack(weights, axis=-1) * seen[..., None]).astype(np.float32).reshape(*m, 4),
        seen.reshape(m),
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
