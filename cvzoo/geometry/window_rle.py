"""Run lengths of masks that are known in a window of their photo: the photo-sized mask is never made."""

from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_size import as_size
from cvzoo.geometry.rle import RLEs


def window_rles(windows: Sequence[np.ndarray], corners: np.ndarray, size: Sequence[int]) -> RLEs:
    """The masks of a photo, R of them, false outside of their windows.

    windows: R of (h, w) bool, each of its own size, perhaps empty
    corners: (R, 2) int, y x of each window's first pixel
    size: (H, W) of the photo
    Raises ShapeError if a window is no (h, w) or does not lie in the photo.
    """
    height, width = as_size(size)
    corners = np.asarray(corners, np.int64).reshape(-1, 2)
    if len(corners) != len(windows):
        raise ShapeError("corners must be one a window", expected=(len(windows), 2), got=corners.shape)
    counts = []
    for r, (window, (y, x)) in enumerate(zip(windows, corners.tolist())):
        window = np.asarray(window, bool)
        inside = window.ndim == 2 and y >= 0 and x >= 0
        if not inside or y + window.shape[0] > height or x + window.shape[1] > width:
            raise ShapeError(
                f"window {r} must lie in the photo of {height} x {width}", got=f"{window.shape} at {(y, x)}"
            )
        counts.append(_runs(window, y, x, height, width))
    return RLEs.from_counts(counts, np.full((len(counts), 2), (height, width), np.int64))


def _runs(window: np.ndarray, y: int, x: int, height: int, width: int) -> np.ndarray:
    if not window.size:
        return np.array([height * width])
    h, w = window.shape
    column = h if h == height else h + 1  # unless columns touch each other in the photo, none runs on into the next
    flat = np.zeros(w * column + 2, bool)
    flat[1:-1].reshape(w, column)[:, :h] = window.T
    i, j = np.divmod(np.flatnonzero(flat[1:] != flat[:-1]), column)
    edges = (x + i) * height + y + j
    runs = np.diff(edges, prepend=0, append=height * width)
    return runs if runs[-1] or len(runs) == 1 else runs[:-1]
