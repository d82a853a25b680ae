"""A map cut into windows, perhaps after a shift, and put together again."""

import functools
from typing import NamedTuple

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable

_HIDDEN = -100.0  # added to the scores of pixels that are no neighbours; the makers' number


class Windows(NamedTuple):
    """How a map of one size is cut.

    size: (H, W) of the map
    padded: (H', W'), multiples of the window: zeros are added below and on the right
    window: the side of a window
    shift: (rows, columns) that the map is moved up and to the left before, the far pixels coming in again
    """

    size: tuple[int, int]
    padded: tuple[int, int]
    window: int
    shift: tuple[int, int]

    def cut(self, x: Variable) -> Variable:
        """(B, n, window * window, C) of x (B, C, H, W), window after window."""
        (h, w), (ph, pw) = self.size, self.padded
        if (h, w) != (ph, pw):
            x = F.pad(x, ((0, 0), (0, 0), (0, ph - h), (0, pw - w)))
        if any(self.shift):
            x = F.roll(x, (-self.shift[0], -self.shift[1]), (2, 3))
        b, c = x.shape[:2]
        side = self.window
        x = F.reshape(F.transpose(x, (0, 2, 3, 1)), (b, ph // side, side, pw // side, side, c))
        return F.reshape(F.transpose(x, (0, 1, 3, 2, 4, 5)), (b, -1, side * side, c))

    def join(self, x: Variable) -> Variable:
        """(B, C, H, W) of x (B, n, window * window, C): what `cut` did, undone."""
        (h, w), (ph, pw) = self.size, self.padded
        b, c, side = x.shape[0], x.shape[-1], self.window
        x = F.reshape(x, (b, ph // side, pw // side, side, side, c))
        x = F.reshape(F.transpose(x, (0, 1, 3, 2, 4, 5)), (b, ph, pw, c))
        x = F.transpose(x, (0, 3, 1, 2))
        if any(self.shift):
            x = F.roll(x, self.shift, (2, 3))
        return x if (h, w) == (ph, pw) else x[:, :, :h, :w]

    def hidden(self) -> np.ndarray | None:
        """(n, window^2, window^2) float32 to add to the scores: pixels that the shift brought together from different
        sides of the map do not see each other. None where nothing was shifted."""
        return _hidden(self) if any(self.shift) else None


def windows_of(size: tuple[int, int], window: int, *, shifted: bool) -> Windows:
    """How a map (H, W) is cut into windows.

    shifted: by half a window, but not along a side that one window covers
    """
    padded = tuple([-(-n // window) * window for n in size])
    shift = tuple([window // 2 if shifted and n > window else 0 for n in padded])
    return Windows(tuple(size), padded, window, shift)


@functools.lru_cache(8)  # a large photo's take tens of megabytes
def _hidden(windows: Windows) -> np.ndarray:
    (ph, pw), side = windows.padded, windows.window
    rows, columns = (
        (np.arange(n) >= n - side).astype(int) + (np.arange(n) >= n - shift) if shift else np.zeros(n, int)
        for n, shift in zip(windows.padded, windows.shift)
    )
    region = 3 * rows[:, None] + columns
    region = region.reshape(ph // side, side, pw // side, side).transpose(0, 2, 1, 3).reshape(-1, side * side)
    mask = np.where(region[:, :, None] == region[:, None, :], 0, _HIDDEN).astype(np.float32)
    mask.flags.writeable = False
    return mask


@functools.lru_cache(16)
def relative_index(window: int) -> np.ndarray:
    """(window^4,) int64: which of the (2 * window - 1)^2 differences each pair of a window's pixels has, row by row."""
    y, x = (axis.ravel() for axis in np.meshgrid(np.arange(window), np.arange(window), indexing="ij"))
    side = 2 * window - 1
    index = (y[:, None] - y + window - 1) * side + (x[:, None] - x + window - 1)
    index = index.ravel()
    index.flags.writeable = False
    return index


@functools.lru_cache(16)
def relative_places(window: int) -> np.ndarray:
    """((2 * window - 1)^2, 2) float32: the differences (rows, columns) on the second paper's logarithmic scale."""
    line = np.arange(1 - window, window, dtype=np.float32) * np.float32(8 / max(window - 1, 1))
    line = np.sign(line) * np.log2(np.abs(line) + 1) / np.float32(3)
    places = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2).astype(np.float32)
    places.flags.writeable = False
    return places
