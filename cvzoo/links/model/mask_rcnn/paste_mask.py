"""Box masks resized and pasted into images."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.window_rle import window_rles


def paste_masks(
    prob: np.ndarray,
    bbox: np.ndarray,
    size: Sequence[int],
    *,
    thresh: float = 0.5,
    how: Literal["whole", "exact"] = "whole",
) -> RLEs:
    """Paste masks into the image: R masks, True where the resized probabilities exceed `thresh`.

    prob: (R, M, M) float32; bbox: (R, 4) float32, pixels of the image; size: (H, W) of it
    how: as in `MaskHeadConfig`
    A mask is resized within its box only: the cost does not depend on the image's size.
    """
    windows = [window_rles([], np.zeros((0, 2), np.int64), size)]
    for one, bb in zip(prob, bbox):
        window, corner = paste_window(one, bb, size, how=how)
        inside = window > thresh if how == "whole" else window >= thresh
        # one by one: a hundred windows as large as a 1080p image would take 200 MB
        windows.append(window_rles([inside], np.array([corner], np.int64), size))
    return RLEs.concatenate(windows)


def paste_window(
    prob: np.ndarray, bb: np.ndarray, size: Sequence[int], *, how: Literal["whole", "exact"] = "whole"
) -> tuple[np.ndarray, tuple[int, int]]:
    """A mask resized to its box: (h, w) float32, and y x of its first pixel in the image.

    prob: (M, M) float32; bb: (4,) float32, y_min x_min y_max x_max
    """
    rows, columns = _whole_axes(bb, size, len(prob)) if how == "whole" else _exact_axes(bb, size, len(prob))
    return rows[0] @ prob @ columns[0].T, (rows[1], columns[1])


Axis = tuple[np.ndarray, int]  # (n, M) float32: interpolation weights of each pixel's cells; the first pixel


def _whole_axes(bb: np.ndarray, size: Sequence[int], m: int) -> tuple[Axis, Axis]:
    # the mask is padded with zeros; the box is enlarged with it, and rounded down to whole pixels
    middle = (bb[2:] + bb[:2]) * np.float32(0.5)
    half = (bb[2:] - bb[:2]) * np.float32(0.5) * np.float32((m + 2) / m)
    low, high = np.trunc(middle - half).astype(np.int64), np.trunc(middle + half).astype(np.int64)
    axes = []
    for start, stop, limit in zip(low.tolist(), high.tolist(), size):
        length = max(stop - start + 1, 1)
        first, last = max(start, 0), max(min(stop + 1, limit), max(start, 0))
        pixel = np.arange(first - start, min(last - start, length), dtype=np.float32)
        place = np.maximum((pixel + np.float32(0.5)) * np.float32((m + 2) / length) - np.float32(0.5), 0)
        weights = _between(place, m + 2)
        axes.append((weights[:, 1:-1], min(first, limit)))
    return axes[0], axes[1]


def _exact_axes(bb: np.ndarray, size: Sequence[int], m: int) -> tuple[Axis, Axis]:
    axes = []
    for start, stop, limit in zip(bb[:2].tolist(), bb[2:].tolist(), size):
        first, last = max(int(np.floor(start)) - 1, 0), min(int(np.ceil(stop)) + 1, limit)
        pixel = np.arange(first, max(last, first), dtype=np.float32) + np.float32(0.5)
        length = max(stop - start, 1e-6)
        place = (pixel - np.float32(start)) * np.float32(m / length) + np.float32(0.5)  # among m + 2 cells
        outside = (place < 0) | (place > m + 1)
        weights = _between(np.clip(place, 0, m + 1), m + 2)
        weights[outside] = 0
        axes.append((weights[:, 1:-1], min(first, limit)))
    return axes[0], axes[1]


def _between(place: np.ndarray, n: int) -> np.ndarray:
    """(P, n) float32: linear interpolation weights of positions among 0 .. n - 1."""
    low = np.minimum(place.astype(np.int64), n - 1)
    share = place - low.astype(np.float32)
    weights = np.zeros((len(place), n), np.float32)
    row = np.arange(len(place))
    weights[row, low] = 1 - share
    weights[row, np.minimum(low + 1, n - 1)] += share
    return weights
