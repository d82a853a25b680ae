"""Resize an image with the result of Pillow or of OpenCV."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from PIL.Image import Resampling

from cvzoo.backends.numpy.resize import pillow_resize
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.geometry.as_size import as_size
from cvzoo.images.import_cv2 import import_cv2
from cvzoo.transforms.as_img import as_img
from cvzoo.typing.aliases import Array, Image

Interpolation = Literal["nearest", "bilinear", "bicubic", "lanczos", "box"]
Backend = Literal["pillow", "opencv"]

_RESAMPLING: dict[Interpolation, Resampling] = {
    "nearest": Resampling.NEAREST,
    "bilinear": Resampling.BILINEAR,
    "bicubic": Resampling.BICUBIC,
    "lanczos": Resampling.LANCZOS,
    "box": Resampling.BOX,
}
# OpenCV's constants; its box is INTER_AREA
_OPENCV: dict[Interpolation, int] = {"nearest": 0, "bilinear": 1, "bicubic": 2, "box": 3, "lanczos": 4}


def resize(
    img: Image, size: Sequence[int], interpolation: Interpolation | int = "bilinear", *, backend: Backend = "pillow"
) -> Array:
    """The resized image, a new array.

    img: (C, H, W), any number of channels, any real dtype
    size: (H, W) of the result
    interpolation: pixel centers are at half coordinates (corners are not aligned). "nearest" makes no new values and
        accepts any dtype; "lanczos" and "bicubic" may overshoot [0, 255] in floats. PIL.Image.BILINEAR and the like are
        accepted, too.
    backend: "pillow" gives the bits of `PIL.Image.resize`, which antialiases when it shrinks; "opencv" those of
        `cv2.resize`, of an (H, W, 3) uint8 image or else of each channel separately (floats that it resizes together
        may differ in their last bits). OpenCV does not antialias (except "box", its INTER_AREA) and is several times
        faster.
    Returns (C, H', W'): uint8 for uint8, rounded; the dtype of img for "nearest"; float32 for all else, computed in
    floats and not rounded. float32 is contiguous; uint8 is channels-last in memory, as decoders and Pillow return it.
    Raises ShapeError if img is not (C, H, W) or size is not a pair, ValueRangeError for an unknown interpolation or
    backend, MissingExtraError if OpenCV is requested and not installed.

    The backend of published scores: Pillow on uint8 for torchvision's and timm's weights; OpenCV on float32 for
    ChainerCV's, its default wherever OpenCV was installed; OpenCV for SSD in Caffe; neither, but
    `resize_align_corners`, for darknet's networks.
    """
    img = as_img(img)
    size = as_size(size)
    interpolation = interpolation_name(interpolation)
    if backend not in ("pillow", "opencv"):
        raise ValueRangeError("unknown resize backend", expected="pillow, opencv", got=backend)
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


def interpolation_name(interpolation: Interpolation | int) -> Interpolation:
    """The name of an interpolation from its name or Pillow's constant. Raises ValueRangeError if it is unknown."""
    for name, constant in _RESAMPLING.items():
        if interpolation in (name, constant):
            return name
    raise ValueRangeError("unknown interpolation method", expected=", ".join(_RESAMPLING), got=interpolation)


def _nearest(old: int, new: int) -> Array:
    # summed up step by step, as Pillow does: where a center is between two pixels, the rounding decides
    step = old / new
    return np.cumsum(np.r_[step * 0.5, np.full(new - 1, step)]).astype(np.intp)


def _opencv(img: Array, size: Sequence[int], interpolation: Interpolation) -> Array:
    cv2 = import_cv2()
    height, width = size
    if img.dtype == np.uint8 and len(img) == 3:
        hwc = img.transpose(1, 2, 0)
        if hwc.strides[1:] != (3, 1):
            # OpenCV needs the channels of a pixel and the pixels of a row contiguous; rows may have gaps
            hwc = np.ascontiguousarray(hwc)
        return cv2.resize(hwc, (width, height), interpolation=_OPENCV[interpolation]).transpose(2, 0, 1)
    out = np.empty((len(img), height, width), dtype=img.dtype)
    known = img if img.dtype in (np.uint8, np.float32) else None
    for index, result in enumerate(out):
        if known is None:
            # cv2 supports neither bool nor 64-bit integers: the values are gathered by its rule
            y, x = (_nearest_opencv(old, new) for old, new in zip(img.shape[1:], size))
            result[...] = img[index][y[:, None], x]
        else:
            plane = np.ascontiguousarray(img[index])
            result[...] = cv2.resize(plane, (width, height), interpolation=_OPENCV[interpolation])
    return out


def _nearest_opencv(old: int, new: int) -> Array:
    """OpenCV's source indices of nearest: the pixel at the upper left corner, not at the center."""
    return np.minimum(np.arange(new) * (old / new), old - 1).astype(np.intp)
