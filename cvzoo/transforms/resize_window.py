"""A window of a photo in another size, of which only the part that shows the photo is computed."""

import numpy as np

from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.crop import filled, window
from cvzoo.transforms.pillow_passes import rows_first
from cvzoo.transforms.resize import interpolation_name, resize

# how far Pillow's kernels reach to either side, in pixels of whichever of the two photos is coarser
_REACH = {"bilinear": 1, "bicubic": 2, "lanczos": 3, "box": 0.5}
# OpenCV weighs the two pixels whose middles are nearest, at most one away, and half a pixel is for rounding
_REACH_OPENCV = 1.5
_MARGIN_OPENCV = 4


def resize_window(img, y_slice, x_slice, size, *, fill, interpolation="bilinear", backend="pillow"):
    """The window resized, the bits of `resize(window(img, y_slice, x_slice, fill), size)` without painting its canvas.

    img: (C, H, W), any real dtype
    y_slice, x_slice, fill: as in `crop`
    size, interpolation, backend: as in `resize`
    Returns (C, *size), a new array. Raises as `crop` and `resize` do.

    A resized canvas has its own colour wherever no kernel meets the photo: most of the work on it is spared.
    """
    img = as_img(img)
    interpolation = interpolation_name(interpolation)
    size = as_size(size)
    shown = [_shown(side, length) for side, length in zip((y_slice, x_slice), img.shape[1:])]
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


def _shown(side, length):
    """Start and stop of the photo in the window, in pixels of the window."""
    return max(-side.start, 0), min(length, side.stop) - side.start


def _pillow(img, slices, shown, lengths, size, fill, interpolation):
    """Pillow resizes along one side, rounds, then along the other: each pass can be had for itself.

    The first is of the rows (or columns) that show the photo only, the second of the columns (or rows) that it met.
    """
    first, second = (1, 0) if rows_first(lengths, size) else (0, 1)  # 0 is the height, 1 the width
    start, stop = shown[second]
    part = list(slices)
    part[second] = slice(slices[second].start + start, slices[second].start + stop)
    strip = resize(window(img, *part, fill), _pair(second, stop - start, size[first]), interpolation=interpolation)
    reach = _REACH[interpolation] * max(lengths[first] / size[first], 1) + 2
    met = slice(*_met(*shown[first], lengths[first], size[first], reach))
    middle = filled(strip, _pair(second, lengths[second], met.stop - met.start), fill)
    everything = slice(None)
    middle[(everything, *_pair(second, slice(start, stop), everything))] = strip[
        (everything, *_pair(second, everything, met))
    ]
    out = filled(strip, size, fill)
    size = _pair(second, size[second], met.stop - met.start)
    out[(everything, *_pair(second, everything, met))] = resize(middle, size, interpolation=interpolation)
    return out


def _pair(axis, value, other):
    """(H, W) of which the side axis has value."""
    return (value, other) if axis == 0 else (other, value)


def _opencv(img, slices, shown, lengths, size, fill):
    """OpenCV meets two pixels a side: the canvas needs paint around the photo only."""
    canvas = np.empty((*lengths, len(img)), np.uint8).transpose(2, 0, 1)
    painted = [
        slice(max(start - _MARGIN_OPENCV, 0), min(stop + _MARGIN_OPENCV, length))
        for (start, stop), length in zip(shown, lengths)
    ]
    around = [slice(side.start + part.start, side.start + part.stop) for side, part in zip(slices, painted)]
    canvas[:, painted[0], painted[1]] = window(img, *around, fill)
    resized = resize(canvas, size, backend="opencv")
    rows, columns = (
        slice(*_met(start, stop, length, new, _REACH_OPENCV))
        for (start, stop), length, new in zip(shown, lengths, size)
    )
    out = filled(resized, size, fill)
    out[:, rows, columns] = resized[:, rows, columns]
    return out


def _met(start, stop, old, new, reach):
    """First and last + 1 of the new pixels whose kernel may meet the old ones from start to stop; (0, 0) if none."""
    middle = (np.arange(new) + 0.5) * (old / new)
    met = np.flatnonzero((middle + reach > start) & (middle - reach < stop))
    return (int(met[0]), int(met[-1]) + 1) if len(met) else (0, 0)
