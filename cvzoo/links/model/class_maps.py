"""Scores of the classes at each pixel, resized and averaged over views."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.activation.softmax import softmax
from cvzoo.functions.array.resize_images import resize_images
from cvzoo.typing.aliases import Array, Size


def mean_of_views(
    x: np.ndarray,
    probs_of: Callable[[np.ndarray], np.ndarray],
    *,
    scales: Sequence[float],
    flip: bool,
    align_corners: bool = False,
    multiple: int = 1,
) -> np.ndarray:
    """The mean of the classes' probabilities over all views, (B, n_class, H, W).

    x: (B, C, H, W) preprocessed images
    probs_of: from a view (B, C, h, w) to (B, n_class, h, w)
    scales: of the views, whose sides are rounded down to whole pixels; 1 is x itself
    flip: whether each view is flipped horizontally, too
    align_corners: of the resize of a view's probabilities to x's size, as in `resize_images`
    multiple: views are resized to sides that are multiples of it
    Raises ValueRangeError without a scale, or if one is not positive.
    """
    if not scales or not all(scale > 0 for scale in scales):
        raise ValueRangeError("scales must be positive, and at least one", got=repr(scales))
    size: Size = (x.shape[2], x.shape[3])
    total: Array | None = None
    for scale in scales:
        view = x
        if scale != 1:
            small = [max(1, int(side * scale) // multiple) * multiple for side in size]
            view = resize_images(x, small, align_corners=False, antialias=True).array
        for mirrored in (False, True) if flip else (False,):
            probs = probs_of(view[..., ::-1] if mirrored else view)
            if probs.shape[2:] != size:
                probs = resize_images(probs, size, align_corners=align_corners).array
            probs = probs[..., ::-1] if mirrored else probs
            total = probs if total is None else total + probs
    assert total is not None  # there is a scale
    return total / np.float32(len(scales) * (1 + flip))


_AT_ONCE = 1 << 21  # maximum number of upsampled scores in memory while labels are computed


class ClassMap(NamedTuple):
    """A score for each class and pixel.

    values: (n_class, H, W) float32
    are_probs: whether they are probabilities; otherwise logits
    """

    values: np.ndarray
    are_probs: bool

    def label(self) -> np.ndarray:
        """(H, W) int32: the highest-scoring class of each pixel; the first of equal ones."""
        # argmax along the last axis of a channels-last view, whose classes are adjacent in memory
        return self.values.transpose(1, 2, 0).argmax(axis=2).astype(np.int32)

    def probs(self) -> np.ndarray:
        """(n_class, H, W) float32, summing to 1 at each pixel."""
        return self.values if self.are_probs else softmax(self.values[None], axis=1).array[0]


class EnlargedScores:
    """Scores of a coarse map, resized bilinearly once or several times; computed row by row to save memory.

    coarse: (n_class, h, w) float32, logits
    sizes: (H, W) of each resize in order; the last is the image's
    align_corners: as in `resize_images`

    Resizes are linear and separable, so that all of them together are one matrix per axis.
    """

    def __init__(self, coarse: np.ndarray, sizes: Sequence[tuple[int, int]], *, align_corners: bool):
        n_class, height, width = coarse.shape
        self._rows = _along(height, [size[0] for size in sizes], align_corners)  # (H, h)
        columns = _along(width, [size[1] for size in sizes], align_corners)  # (W, w)
        wide = columns @ coarse.transpose(1, 2, 0)  # (h, W, n_class)
        self._wide = wide.reshape(height, -1)
        self._shape = len(self._rows), len(columns), n_class

    @property
    def values(self) -> np.ndarray:
        """(n_class, H, W) float32, channels-last in memory."""
        return (self._rows @ self._wide).reshape(self._shape).transpose(2, 0, 1)

    def label(self) -> np.ndarray:
        """As in `ClassMap`."""
        height, width, n_class = self._shape
        label = np.empty((height, width), np.int32)
        step = max(1, _AT_ONCE // (width * n_class))
        for start in range(0, height, step):
            rows = self._rows[start : start + step]
            label[start : start + step] = (rows @ self._wide).reshape(len(rows), width, n_class).argmax(axis=2)
        return label

    def probs(self) -> np.ndarray:
        """As in `ClassMap`."""
        return softmax(self.values[None], axis=1).array[0]


def _along(side: int, sides: Sequence[int], align_corners: bool) -> np.ndarray:
    """(sides[-1], side) float32: the matrix of the resizes along one axis, which is the resized identity matrix."""
    matrix = np.eye(side, dtype=np.float32)[None, None]
    for n in sides:
        matrix = resize_images(matrix, (n, side), align_corners=align_corners).array
    return np.ascontiguousarray(matrix[0, 0])
