"""Brightness, contrast, saturation and hue of an image.

Every function takes an image (C, H, W) in [0, 255], uint8 or float, and returns a new array of the same shape and dtype
in [0, 255], computed in float32. Saturation and hue leave grayscale images (1, H, W) unchanged. All raise ShapeError
for an input that is not an image of one or three channels.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from cvzoo.errors.exceptions import ShapeError
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.keep_dtype import keep_dtype
from cvzoo.typing.aliases import Array, Image

# ITU-R 601-2, as Pillow and OpenCV weigh them
LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
_TINY = np.float32(1e-6)
# pixels processed at once: more do not fit into the L2 cache, fewer mean more calls
_BLOCK = 32768


def adjust_brightness(img: Image, factor: float) -> Image:
    """The image with every value times factor, not negative."""
    return _adjusted(img, lambda pixels: pixels.affine(factor, 0))


def adjust_contrast(img: Image, factor: float) -> Image:
    """The image with the difference of every value from the mean gray value times factor, not negative."""
    return _adjusted(img, lambda pixels: pixels.stretch_contrast(factor))


def adjust_saturation(img: Image, factor: float) -> Image:
    """The image with the difference of every pixel from its own gray value times factor, not negative."""
    return _adjusted(img, lambda pixels: pixels.blend_with_gray(factor))


def adjust_hue(img: Image, shift: float) -> Image:
    """The image with the hue of every pixel shifted, in turns of the hue circle, [-0.5, 0.5]: 1/3 makes red green."""
    return _adjusted(img, lambda pixels: pixels.turn_hsv(hue=shift, saturation=1.0))


class FloatPixels:
    """A float32 copy of an image whose colors change in place, one step per method call, clipped to [0, 255].

    img: (1 or 3, H, W), uint8 or float, not modified
    Raises ShapeError for any other input.
    """

    def __init__(self, img: Image) -> None:
        img = as_img(img)
        if len(img) not in (1, 3):
            raise ShapeError("img must be (3, H, W) RGB or (1, H, W) gray", got=img.shape)
        self._x = np.array(img, dtype=np.float32, order="C")

    def affine(self, factor: float, offset: float) -> None:
        """Every value times factor plus offset."""
        if factor != 1:
            self._x *= np.float32(factor)
        if offset:
            self._x += np.float32(offset)
        # factors in [0, 1] without an offset keep values in [0, 255]
        if offset or not 0 <= factor <= 1:
            self._clip()

    def stretch_contrast(self, factor: float) -> None:
        """The difference from the mean gray value times factor."""
        x = self._x
        means = x.reshape(len(x), -1).mean(axis=1)
        mean = means @ LUMA if len(x) == 3 else means[0]
        x *= np.float32(factor)
        x += np.float32((1 - factor) * mean)
        if not 0 <= factor <= 1:  # else a mean of values in [0, 255]
            self._clip()

    def blend_with_gray(self, factor: float) -> None:
        """The difference from each pixel's gray value times factor; nothing for a grayscale image."""
        x = self._x
        if len(x) == 1:
            return
        gray = LUMA @ x.reshape(3, -1)
        gray *= np.float32(1 - factor)
        x *= np.float32(factor)
        x += gray.reshape(x.shape[1:])
        if not 0 <= factor <= 1:
            self._clip()

    def turn_hsv(self, *, hue: float, saturation: float) -> None:
        """Hue shifted by a fraction of a turn and HSV saturation multiplied; nothing for a grayscale image."""
        if len(self._x) == 1:
            return
        flat = self._x.reshape(3, -1)
        for start in range(0, flat.shape[1], _BLOCK):
            block = flat[:, start : start + _BLOCK]
            if saturation != 1:
                _saturate(block, saturation)
            if hue:
                _turn(block, np.float32(hue * 6))

    def img(self, dtype: npt.DTypeLike) -> Image:
        """The image, (C, H, W), rounded if the dtype is an integer one; the last call on this object."""
        return keep_dtype(self._x, np.dtype(dtype))

    def _clip(self) -> None:
        np.clip(self._x, 0, 255, out=self._x)


def _extremes(x: Image) -> tuple[Array, Array]:
    """The highest and the lowest of the three channels of each pixel."""
    r, g, b = x
    high, low = np.maximum(r, g), np.minimum(r, g)
    return np.maximum(high, b, out=high), np.minimum(low, b, out=low)


def _saturate(x: Image, factor: float) -> None:
    high, low = _extremes(x)
    low -= high  # minus the chroma
    np.minimum(low, -_TINY, out=low)
    # the saturation is at most 1, where the lowest channel is 0
    factors = np.minimum(high / -low, np.float32(factor))
    x -= high
    x *= factors
    x += high


def _turn(x: Image, sixths: np.float32) -> None:
    r, g, b = x
    high, low = _extremes(x)
    chroma = np.subtract(high, low, out=low)
    np.maximum(chroma, _TINY, out=chroma)
    twice = chroma + chroma
    # hue in sixths of a turn: red 0, green 2, blue 4; multiplying by a mask is ten times faster than np.where
    is_red, is_green = r == high, g == high
    is_green &= ~is_red
    is_blue = ~(is_red | is_green)
    hue = g - b
    hue *= is_red
    part = b - r
    part += twice
    part *= is_green
    hue += part
    np.subtract(r, g, out=part)
    part += twice
    part += twice
    part *= is_blue
    hue += part
    hue /= chroma
    hue += sixths
    np.multiply(hue, np.float32(1 / 6), out=part)
    np.floor(part, out=part)
    part *= 6
    hue -= part
    # each channel is the chroma times a trapezoid function of the hue around its own: clip(2 - distance, 0, 1); red is
    # at both ends of [0, 6), so its trapezoid is computed from the opposite hue, 3
    for plane, middle in ((r, 3), (g, 2), (b, 4)):
        np.subtract(hue, np.float32(middle), out=plane)
        np.abs(plane, out=plane)
        np.clip(plane, 1, 2, out=plane)
        plane *= chroma
    high -= twice
    r += high
    high += twice
    high += chroma
    np.subtract(high, g, out=g)
    np.subtract(high, b, out=b)


def _adjusted(img: Image, change: Callable[[FloatPixels], None]) -> Image:
    pixels = FloatPixels(img)
    change(pixels)
    return pixels.img(np.asarray(img).dtype)
