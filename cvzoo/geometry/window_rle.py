"""Run-length encoding of masks given in windows of an image, without allocating masks of the image's size."""

from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_size import as_size
from cvzoo.geometry.rle import RLEs
from cvzoo.typing.aliases import Array


def window_rles(windows: Sequence[Array], corners: Array, size: Sequence[int]) -> RLEs:
    """R run-length encoded masks of an image, false outside of their windows.

    windows: R of (h, w) bool, each of its own size, possibly empty
    corners: (R, 2) int, y x of each window's first pixel
    size: (H, W) of the image
    Raises ShapeError if a window is not (h, w) or not inside the image.
    """
    height, width = as_size(size)
    corners = np.asarray(corners, np.int64).reshape(-1, 2)
    if len(corners) != len(windows):
        raise ShapeError("corners must have one row per window", expected=(len(windows), 2), got=corners.shape)
    counts = []
    for r, (window, (y, x)) in enumerate(zip(windows, corners.tolist())):
        window = np.asarray(window, bool)
        inside = window.ndim == 2 and y >= 0 and x >= 0
        if not inside or y + window.shape[0] > height or x + window.shape[1] > width:
            raise ShapeError(
                f"window {r} must be inside the image of {height} x {width}", got=f"{window.shape} at {(y, x)}"
            )
        counts.append(_runs(window, y, x, height, width))
    return RLEs.from_counts(counts, np.full((len(counts), 2), (height, width), np.int64))


def _runs(window: Array, y: int, x: int, height: int, width: int) -> Array:
    if not window.size:
        return np.array([height * width])
    h, w = window.shape
    column = h if h == height else h + 1  # the gap ends a run at the column's end, unless the window has full height
    flat = np.zeros(w * column + 2, bool)
    flat[1:-1].reshape(w, column)[:, :h] = window.T
    i, j = np.divmod(np.flatnonzero(flat[1:] != flat[:-1]), column)
    edges = (x + i) * height + y + j
    runs = np.diff(edges, prepend=0, append=height * width)
    return runs if runs[-1] or len(runs) == 1 else runs[:-1]
