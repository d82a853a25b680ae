"""Preprocessing of an image as data that backends execute: resizing, normalization, padding."""

import dataclasses
import enum
import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import ShapeError


class Resampling(enum.Enum):
    """Interpolation of a resized image.

    PILLOW, PILLOW_CUBIC: as Pillow for uint8; PILLOW_FLOATS: as Pillow for floats, bilinear
    BILINEAR, ANTIALIASED: as `AbstractBackend.resize_2d`, corners not aligned
    CORNERS: as `transforms.resize_align_corners`
    """

    PILLOW = enum.auto()
    PILLOW_CUBIC = enum.auto()
    PILLOW_FLOATS = enum.auto()
    BILINEAR = enum.auto()
    ANTIALIASED = enum.auto()
    CORNERS = enum.auto()


class AxisTable(NamedTuple):
    """first: (n,) int32, the first input pixel; weights: (n, T) of it and the pixels after it."""

    first: np.ndarray
    weights: np.ndarray


# fixed-point precision of Pillow's 8-bit resampling: 32 bits minus 8 of a pixel and 2 of headroom
_PRECISION = 22


@functools.lru_cache(512)
def axis_table(old: int, new: int, how: Resampling) -> AxisTable:
    """The interpolation table from `old` to `new` pixels of an axis; not to be changed.

    Weights are int32 in 2^-22 for Pillow on 8 bits, float64 for Pillow on floats, else float32.
    """
    if how is Resampling.CORNERS:
        return _corners(old, new)
    if how in (Resampling.BILINEAR, Resampling.ANTIALIASED):
        return _bilinear(old, new, antialias=how is Resampling.ANTIALIASED)
    first, weights = _pillow(old, new, cubic=how is Resampling.PILLOW_CUBIC)
    if how is Resampling.PILLOW_FLOATS:
        return AxisTable(first, weights)
    return AxisTable(first, np.trunc(weights * (1 << _PRECISION) + np.copysign(0.5, weights)).astype(np.int32))


def _pillow(old: int, new: int, *, cubic: bool) -> tuple[np.ndarray, np.ndarray]:
    scale = old / new
    stretch = max(scale, 1.0)
    support = (2.0 if cubic else 1.0) * stretch
    center = (np.arange(new) + 0.5) * scale
    first = np.maximum((center - support + 0.5).astype(np.int64), 0)
    last = np.minimum((center + support + 0.5).astype(np.int64), old)
    taps = first[:, None] + np.arange(math.ceil(support) * 2 + 1)
    position = (taps - center[:, None] + 0.5) * (1.0 / stretch)
    weights = np.where(taps < last[:, None], _cubic(position) if cubic else np.maximum(1 - np.abs(position), 0), 0.0)
    # summed sequentially, as Pillow does: np.sum would round differently
    total = np.zeros(new)
    for column in weights.T:
        total += column
    weights = np.where(total[:, None] != 0, weights / np.where(total == 0, 1, total)[:, None], weights)
    return first.astype(np.int32), weights


def _cubic(x: np.ndarray) -> np.ndarray:
    a = -0.5
    x = np.abs(x)
    near = ((a + 2.0) * x - (a + 3.0)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _bilinear(old: int, new: int, *, antialias: bool) -> AxisTable:
    scale = old / new
    center = (np.arange(new) + 0.5) * scale - 0.5
    if not (antialias and scale > 1):
        center = np.clip(center, 0, old - 1)
        low = np.minimum(np.floor(center).astype(np.int64), old - 1)
        part = center - low
        return AxisTable(low.astype(np.int32), np.stack([1 - part, part], 1).astype(np.float32))
    first = np.maximum(np.floor(center - scale).astype(np.int64), 0)
    taps = first[:, None] + np.arange(math.ceil(2 * scale) + 2)
    weights = np.maximum(1 - np.abs(taps - center[:, None]) / scale, 0) * (taps < old)
    weights /= weights.sum(1, keepdims=True)
    return AxisTable(first.astype(np.int32), weights.astype(np.float32))


def _corners(old: int, new: int) -> AxisTable:
    if new == 1:
        return AxisTable(np.array([old - 1], np.int32), np.array([[1, 0]], np.float32))
    position = np.arange(new, dtype=np.float32) * (np.float32(old - 1) / np.float32(new - 1))
    position[-1] = old - 1
    low = position.astype(np.int32)
    part = position - low.astype(np.float32)
    return AxisTable(low, np.stack([1 - part, part], 1))


Three = tuple[float, float, float]
Size = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class ImagePlan:
    """Resizing of an image, normalization of its values v to (v - mean) / std * factor / divisor - shift, and padding.

    resized: (H, W) of the resized image
    frame: (H, W) of the network's input
    how: interpolation; an image of this size is not resized
    offset: (y, x) in the frame of the resized image's upper left corner; negative for a crop
    mean, std: per channel, in [0, 255]
    before: whether mean and std are applied before resizing; rounding differs
    fill: per channel, normalized value of the padding
    horizontal_first: order of Pillow's passes, which round in between
    bgr: whether channels are BGR
    """

    resized: Size
    frame: Size
    how: Resampling
    offset: tuple[int, int] = (0, 0)
    mean: Three = (0.0, 0.0, 0.0)
    std: Three = (1.0, 1.0, 1.0)
    before: bool = False
    factor: float = 1.0
    divisor: float = 1.0
    shift: float = 0.0
    fill: Three = (0.0, 0.0, 0.0)
    horizontal_first: bool = True
    bgr: bool = False


def frame_of(images: Sequence[np.ndarray], plans: Sequence[ImagePlan]) -> Size:
    """(H, W) of the network's input. Raises ShapeError unless the images can be batched."""
    frames = {plan.frame for plan in plans}
    if len(frames) != 1 or len(images) != len(plans):
        raise ShapeError("prepare_images: images must have plans of one frame", got=sorted(frames))
    for image in images:
        if image.ndim != 3 or image.shape[0] != 3 or image.dtype not in (np.uint8, np.float32):
            raise ShapeError(
                "prepare_images: an image has another shape or dtype",
                expected="(3, H, W) uint8 or float32",
                got=(image.shape, image.dtype),
            )
    (frame,) = frames
    return frame
