"""Brightness, contrast, saturation and hue of an 8-bit photo with OpenCV: faster, and rounded after every step."""

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ValueRangeError
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.import_cv2 import import_cv2

_LEVELS = np.arange(256, dtype=np.float32)


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
        self._pixels = self._cv2.LUT(self._pixels, _levels(_LEVELS * factor + offset))

    def stretch_contrast(self, factor):
        """The distance from the mean grey times factor."""
        self.affine(factor, (1 - factor) * self._gray().mean())

    def blend_with_gray(self, factor):
        """The distance from each pixel's grey times factor."""
        gray = self._cv2.cvtColor(self._gray(), self._cv2.COLOR_GRAY2RGB)
        self._pixels = self._cv2.addWeighted(self._pixels, factor, gray, 1 - factor, 0)

    def turn_hsv(self, *, hue, saturation):
        """Hue moved by a part of a turn, in 256 steps, and HSV's saturation multiplied."""
        cv2 = self._cv2
        table = np.empty((256, 1, 3), np.uint8)
        table[:, 0, 0] = (np.arange(256) + round(hue * 256)) % 256
        table[:, 0, 1] = _levels(_LEVELS * saturation)
        table[:, 0, 2] = np.arange(256)
        hsv = cv2.LUT(cv2.cvtColor(self._pixels, cv2.COLOR_RGB2HSV_FULL), table)
        self._pixels = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB_FULL)

    def img(self, dtype):
        """A new (3, H, W) array."""
        return np.array(self._cv2.split(self._pixels), dtype=dtype)

    def _gray(self):
        return self._cv2.cvtColor(self._pixels, self._cv2.COLOR_RGB2GRAY)


def check_backend(backend):
    """Nothing, or ValueRangeError if colours cannot be changed by that."""
    if backend not in ("numpy", "opencv"):
        raise ValueRangeError("no such backend for colours", expected="numpy, opencv", got=backend)


def _levels(values):
    return np.rint(values).clip(0, 255).astype(np.uint8)
