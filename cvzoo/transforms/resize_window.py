"""Crop, pad and resize in one step: only the part of the result that shows the image is computed."""

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.crop import filled, window
from cvzoo.transforms.pillow_passes import rows_first
from cvzoo.transforms.resize import Backend, Interpolation, interpolation_name, resize
from cvzoo.typing.aliases import ArrayLike, Image

_T = TypeVar("_T")
_Slices: TypeAlias = tuple[slice, slice]

# radius of Pillow's kernels, in pixels of the coarser one of the two images
_REACH = {"bilinear": 1, "bicubic": 2, "lanczos": 3, "box": 0.5}
# OpenCV interpolates the two nearest pixel centers, at most one pixel away; half a pixel is for rounding
_REACH_OPENCV = 1.5
_MARGIN_OPENCV = 4  # pixels, more than OpenCV reads beside a position


def resize_window(
    img: Image,
    y_slice: slice,
    x_slice: slice,
    size: Sequence[int],
    *,
    fill: ArrayLike,
    interpolation: Interpolation | int = "bilinear",
    backend: Backend = "pillow",
) -> Image:
    """The resized window, bit for bit `resize(window(img, y_slice, x_slice, fill), size)` without the padded canvas.

    img: (C, H, W), any real dtype
    y_slice, x_slice, fill: as in `crop`
    size, interpolation, backend: as in `resize`
    Returns (C, *size), a new array. Raises as `crop` and `resize` do.

    The resized canvas has the value of fill wherever no kernel overlaps the image: most of its computation is saved.
    """
    img = as_img(img)
    interpolation = interpolation_name(interpolation)
    size = as_size(size)
    shown = [_visible_range(side, length) for side, length in zip((y_slice, x_slice), img.shape[1:])]
    lengths = [side.stop - side.start for side in (y_slice, x_slice)]
    partly = any(stop - start < length for (start, stop), length in zip(shown, lengths))
    nowhere = any(start >= stop for start, stop in shown)
    if partly and not nowhere and len(img) and img.dtype in (np.uint8, np.float32):
        arguments = (img, (y_slice, x_slice), shown, lengths, size, fill)
        if backend == "pillow" and interpolation in _REACH and rows_first(lengths, size) is not None:
            return _pillow(*arguments, interpolation)
        if backend == "opencv" and interpolation == "bilinear" and img.dtype == np.uint8:
            return _opencv(*arguments)
    return resize(window(img, y_slice, x_slice, fill), size, interpolation=interpolation, backend=backend)


def _visible_range(side: slice, length: int) -> tuple[int, int]:
    """Start and stop of the image within the window, in pixels of the window."""
    return max(-side.start, 0), min(length, side.stop) - side.start


def _pillow(
    img: Image,
    slices: _Slices,
    shown: Sequence[tuple[int, int]],
    lengths: Sequence[int],
    size: Sequence[int],
    fill: ArrayLike,
    interpolation: Interpolation,
) -> Image:
    """Pillow resizes along one axis, rounds, then along the other: each pass is computed separately.

    The first pass covers only the rows (or columns) that show the image, the second one only the columns (or rows)
    that the first one affects.
    """
    first, second = (1, 0) if rows_first(lengths, size) else (0, 1)  # 0 is the height, 1 the width
    start, stop = shown[second]
    part = _pair(second, slice(slices[second].start + start, slices[second].start + stop), slices[first])
    strip = resize(
        window(img, part[0], part[1], fill), _pair(second, stop - start, size[first]), interpolation=interpolation
    )
    # antialiasing widens the kernel by the factor of downscaling; two pixels are for Pillow's rounding of its bounds
    reach = _REACH[interpolation] * max(lengths[first] / size[first], 1) + 2
    affected = slice(*_affected(*shown[first], lengths[first], size[first], reach))
    between = filled(strip, _pair(second, lengths[second], affected.stop - affected.start), fill)
    everything = slice(None)
    between[(everything, *_pair(second, slice(start, stop), everything))] = strip[
        (everything, *_pair(second, everything, affected))
    ]
    out = filled(strip, size, fill)
    size = _pair(second, size[second], affected.stop - affected.start)
    out[(everything, *_pair(second, everything, affected))] = resize(between, size, interpolation=interpolation)
    return out


def _pair(axis: int, value: _T, other: _T) -> tuple[_T, _T]:
    """A pair (H, W) with value at axis and other at the other axis."""
    return (value, other) if axis == 0 else (other, value)


def _opencv(
    img: Image,
    slices: _Slices,
    shown: Sequence[tuple[int, int]],
    lengths: Sequence[int],
    size: Sequence[int],
    fill: ArrayLike,
) -> Image:
    """OpenCV interpolates two pixels per axis: the canvas must be initialized only around the image."""
    canvas = np.empty((*lengths, len(img)), np.uint8).transpose(2, 0, 1)
    initialized = [
        slice(max(start - _MARGIN_OPENCV, 0), min(stop + _MARGIN_OPENCV, length))
        for (start, stop), length in zip(shown, lengths)
    ]
    around = [slice(side.start + part.start, side.start + part.stop) for side, part in zip(slices, initialized)]
    canvas[:, initialized[0], initialized[1]] = window(img, around[0], around[1], fill)
    resized = resize(canvas, size, backend="opencv")
    rows, columns = (
        slice(*_affected(start, stop, length, new, _REACH_OPENCV))
        for (start, stop), length, new in zip(shown, lengths, size)
    )
    out = filled(resized, size, fill)
    out[:, rows, columns] = resized[:, rows, columns]
    return out


def _affected(start: int, stop: int, old: int, new: int, reach: float) -> tuple[int, int]:
    """Start and stop of the new pixels whose kernel may overlap the old ones from start to stop; (0, 0) if none."""
    center = (np.arange(new) + 0.5) * (old / new)
    affected = np.flatnonzero((center + reach > start) & (center - reach < stop))
    return (int(affected[0]), int(affected[-1]) + 1) if len(affected) else (0, 0)
