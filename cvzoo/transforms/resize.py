"""Resize a photo as Pillow does."""

from typing import Literal

import numpy as np
from PIL import Image

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img

Interpolation = Literal["nearest", "bilinear", "bicubic"]

_RESAMPLING = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
}


def resize(img, size, *, interpolation: Interpolation = "bilinear"):
    """The photo in another size, a new contiguous float32 array.

    img: (C, H, W), any number of channels, any real dtype
    size: (H, W) to come
    interpolation: "bilinear" and "bicubic" widen their kernel when they shrink (antialias), as Pillow does and OpenCV
        does not; pixel centres lie at half coordinates (corners are not aligned). "nearest" makes no new values.
    Returns (C, H', W') float32, computed in floats: nothing is rounded, bicubic may overshoot [0, 255].
    Raises ShapeError if img is not (C, H, W) or size no pair, ValueRangeError for another interpolation.
    """
    img = as_img(img)
    height, width = as_size(size)
    if interpolation not in _RESAMPLING:
        raise ValueRangeError("no such interpolation", expected=", ".join(_RESAMPLING), got=interpolation)
    if img.shape[1:] == (height, width):
        return np.array(img, dtype=np.float32, order="C")
    out = np.empty((len(img), height, width), dtype=np.float32)
    for plane, result in zip(img, out):
        # mode "F" has one band; Pillow resizes it with float weights and float sums
        pil = Image.fromarray(np.ascontiguousarray(plane, dtype=np.float32))
        result[...] = pil.resize((width, height), _RESAMPLING[interpolation])
    return out
