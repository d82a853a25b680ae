"""Resize a photo as Pillow does, or as OpenCV does."""

from typing import Literal

import numpy as np
from PIL import Image

from cvzoo.backends.numpy.pillow_resize import pillow_resize
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.geometry.as_size import as_size
from cvzoo.images.import_cv2 import import_cv2
from cvzoo.transforms.as_img import as_img

Interpolation = Literal["nearest", "bilinear", "bicubic", "lanczos", "box"]
Backend = Literal["pillow", "opencv"]

_RESAMPLING = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
    "box": Image.Resampling.BOX,
}
# OpenCV's own numbers; its box is INTER_AREA
_OPENCV = {"nearest": 0, "bilinear": 1, "bicubic": 2, "box": 3, "lanczos": 4}


def resize(img, size, *, interpolation: Interpolation = "bilinear", backend: Backend = "pillow"):
    """The photo in another size, a new array.

    img: (C, H, W), any number of channels, any real dtype
    size: (H, W) to come
    interpolation: pixel centres lie at half coordinates (corners are not aligned). "nearest" makes no new values and
        takes any dtype; "lanczos" and "bicubic" may overshoot [0, 255] in floats. PIL.Image.BILINEAR and its kin are
        taken too.
    backend: "pillow" gives the bits of `PIL.Image.resize`, which widens its kernel when it shrinks (antialias);
        "opencv" those of `cv2.resize`, of an (H, W, 3) uint8 photo or else of each channel by itself (floats that it
        resizes together may differ in their last bits). It does not widen its kernel (box, its INTER_AREA, apart) and
        is several times faster.
    Returns (C, H', W'): uint8 for uint8, rounded; the dtype of img for "nearest"; float32 for all else, computed in
    floats and not rounded. float32 is contiguous; uint8 lies (H', W', C) in memory, as decoders and Pillow keep it.
    Raises ShapeError if img is not (C, H, W) or size no pair, ValueRangeError for another interpolation or backend,
    MissingExtraError if OpenCV is wanted and absent.

    Which one a published score was measured with: torchvision's and timm's weights with Pillow on uint8; ChainerCV's
    with OpenCV on float32, its default wherever OpenCV was installed; SSD in Caffe with OpenCV; darknet's networks with
    neither, but `resize_align_corners`.
    """
    img = as_img(img)
    size = as_size(size)
    interpolation = interpolation_name(interpolation)
    if backend not in ("pillow", "opencv"):
        raise ValueRangeError("no such backend", expected="pillow, opencv", got=backend)
    if interpolation != "nearest" and img.dtype not in (np.uint8, np.float32):
        img = img.astype(np.float32)
    if not len(img):
        return np.empty((0, *size), img.dtype)
    if img.shape[1:] == size:
        return np.array(img, order="C")
    if backend == "opencv":
        return _opencv(img, size, interpolation)
    if interpolation == "nearest":
        y, x = (_nearest(old, new) for old, new in zip(img.shape[1:], size))
        return img[:, y[:, None], x]
    return pillow_resize(img, size, _RESAMPLING[interpolation])


def interpolation_name(interpolation):
    """The name of an interpolation given by its name or by Pillow's constant. Raises ValueRangeError for another."""
    for name, constant in _RESAMPLING.items():
        if interpolation in (name, constant):
            return name
    raise ValueRangeError("no such interpolation", expected=", ".join(_RESAMPLING), got=interpolation)


def _nearest(old, new):
    # summed up step by step, as Pillow does: where a centre falls between two pixels the rounding decides
    step = old / new
    return np.cumsum(np.r_[step * 0.5, np.full(new - 1, step)]).astype(np.intp)


def _opencv(img, size, interpolation):
    cv2 = import_cv2()
    height, width = size
    if img.dtype == np.uint8 and len(img) == 3:
        hwc = img.transpose(1, 2, 0)
        if hwc.strides[1:] != (3, 1):
            # OpenCV wants whole pixels side by side; rows may lie apart
            hwc = np.ascontiguousarray(hwc)
        return cv2.resize(hwc, (width, height), interpolation=_OPENCV[interpolation]).transpose(2, 0, 1)
    out = np.empty((len(img), height, width), dtype=img.dtype)
    known = img if img.dtype in (np.uint8, np.float32) else None
    for index, result in enumerate(out):
        if known is None:
            # cv2 knows neither bool nor 64-bit integers: it moves positions and we move values
            y, x = (_nearest_opencv(old, new) for old, new in zip(img.shape[1:], size))
            result[...] = img[index][y[:, None], x]
        else:
            plane = np.ascontiguousarray(img[index])
            result[...] = cv2.resize(plane, (width, height), interpolation=_OPENCV[interpolation])
    return out


def _nearest_opencv(old, new):
    """OpenCV takes the pixel under the upper left corner, not under the centre."""
    return np.minimum(np.arange(new) * (old / new), old - 1).astype(np.intp)
