"""Brightness, contrast, saturation and hue of an 8-bit photo with OpenCV: faster, and rounded after every step."""

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ValueRangeError
from cvzoo.images.import_cv2 import import_cv2
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.color import LUMA


class Pixels:
    """An RGB photo on which colours are changed step by step. Every method changes it in place.

    img: (3, H, W) uint8, which stays as it is
    Raises ShapeError or DtypeError for anything else, MissingExtraError without OpenCV.
    """

    def __init__(self, img):
        img = as_img(img)
        if img.dtype != np.uint8 or len(img) != 3:
            raise DtypeError(
                "OpenCV changes colours of uint8 RGB photos", got=f"{img.dtype} {img.shape}", hint='backend="numpy"'
            )
        self._cv2 = import_cv2()
        hwc = img.transpose(1, 2, 0)
        self._pixels = hwc if hwc.flags.c_contiguous else self._cv2.merge([np.ascontiguousarray(each) for each in img])

    def affine(self, factor, offset):
        """Every value times factor plus offset."""
        self._transform(np.eye(3) * factor, offset)

    def stretch_contrast(self, factor):
        """The distance from the mean grey times factor."""
        self.affine(factor, (1 - factor) * (LUMA @ self._cv2.mean(self._pixels)[:3]))

    def blend_with_gray(self, factor):
        """The distance from each pixel's grey times factor."""
        self._transform(np.eye(3) * factor + (1 - factor) * LUMA, 0)

    def turn_hsv(self, *, hue, saturation):
        """Hue moved by a part of a turn, in 256 steps, and HSV's saturation multiplied."""
        cv2 = self._cv2
        hsv = cv2.cvtColor(self._pixels, cv2.COLOR_RGB2HSV_FULL)
        # 256 hues are a full turn: they wrap around as bytes do
        hsv[..., 0] += np.uint8(round(hue * 256) % 256)
        if saturation != 1:
            levels = np.rint(np.arange(256) * saturation).clip(0, 255).astype(np.uint8)
            hsv[..., 1] = cv2.LUT(np.ascontiguousarray(hsv[..., 1]), levels)
        self._pixels = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB_FULL)

    def img(self, dtype):
        """A new (3, H, W) array."""
        planes = np.empty((3, *self._pixels.shape[:2]), np.uint8)
        self._cv2.split(self._pixels, list(planes))
        return planes.astype(dtype, copy=False)

    def _transform(self, matrix, offset):
        # one call for any change that is linear in a pixel's three values; it rounds and clips
        full = np.concatenate([matrix, np.full((3, 1), offset)], axis=1)
        self._pixels = self._cv2.transform(self._pixels, full)


def check_backend(backend):
    """Nothing, or ValueRangeError if colours cannot be changed by that."""
    if backend not in ("numpy", "opencv"):
        raise ValueRangeError("no such backend for colours", expected="numpy, opencv", got=backend)
