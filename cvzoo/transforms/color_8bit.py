"""Brightness, contrast, saturation and hue of a uint8 image with OpenCV: faster, but rounded after every step."""

import numpy as np
import numpy.typing as npt

from cvzoo.errors.exceptions import DtypeError, ValueRangeError
from cvzoo.images.import_cv2 import import_cv2
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.color import LUMA, FloatPixels
from cvzoo.typing.aliases import Array, Image


class BytePixels:
    """A copy of an RGB image whose colors OpenCV changes in place, one step per method call.

    img: (3, H, W) uint8, not modified
    Raises ShapeError or DtypeError for any other input, MissingExtraError without OpenCV.
    """

    def __init__(self, img: Image) -> None:
        img = as_img(img)
        if img.dtype != np.uint8 or len(img) != 3:
            raise DtypeError(
                "OpenCV changes colors of uint8 RGB images", got=f"{img.dtype} {img.shape}", hint='backend="numpy"'
            )
        self._cv2 = import_cv2()
        hwc = img.transpose(1, 2, 0)
        self._pixels = hwc if hwc.flags.c_contiguous else self._cv2.merge([np.ascontiguousarray(each) for each in img])

    def affine(self, factor: float, offset: float) -> None:
        """Every value times factor plus offset."""
        self._transform(np.eye(3) * factor, offset)

    def stretch_contrast(self, factor: float) -> None:
        """The difference from the mean gray value times factor."""
        self.affine(factor, (1 - factor) * (LUMA @ self._cv2.mean(self._pixels)[:3]))

    def blend_with_gray(self, factor: float) -> None:
        """The difference from each pixel's gray value times factor."""
        self._transform(np.eye(3) * factor + (1 - factor) * LUMA, 0)

    def turn_hsv(self, *, hue: float, saturation: float) -> None:
        """Hue shifted by a fraction of a turn, in 256 steps, and HSV saturation multiplied."""
        cv2 = self._cv2
        hsv = cv2.cvtColor(self._pixels, cv2.COLOR_RGB2HSV_FULL)
        # 256 hues are a full turn: uint8 arithmetic wraps around in the same way
        hsv[..., 0] += np.uint8(round(hue * 256) % 256)
        if saturation != 1:
            levels = np.rint(np.arange(256) * saturation).clip(0, 255).astype(np.uint8)
            hsv[..., 1] = cv2.LUT(np.ascontiguousarray(hsv[..., 1]), levels)
        self._pixels = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB_FULL)

    def img(self, dtype: npt.DTypeLike) -> Image:
        """The image as a new (3, H, W) array."""
        planes = np.empty((3, *self._pixels.shape[:2]), np.uint8)
        self._cv2.split(self._pixels, list(planes))
        return planes.astype(dtype, copy=False)

    def _transform(self, matrix: Array, offset: float) -> None:
        # cv2.transform applies any affine map of a pixel's three values in one call; it rounds and clips
        full = np.concatenate([matrix, np.full((3, 1), offset)], axis=1)
        self._pixels = self._cv2.transform(self._pixels, full)


def pixels_of(img: Image, backend: str) -> FloatPixels | BytePixels:
    """The image, ready to change its colors: in float32 by NumPy, or in uint8 by OpenCV.

    backend: "numpy" or "opencv"
    Raises ValueRangeError for another backend, and what the two classes raise.
    """
    if backend not in ("numpy", "opencv"):
        raise ValueRangeError("unknown backend of a color transform", expected="numpy, opencv", got=backend)
    return FloatPixels(img) if backend == "numpy" else BytePixels(img)
