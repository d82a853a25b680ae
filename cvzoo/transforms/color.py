"""Brightness, contrast, saturation and hue of an image.

Every function takes an image (C, H, W) in [0, 255], uint8 or float, and returns a new array of the same shape and dtype
in [0, 255], computed in float32. Saturation and hue leave grayscale images (1, H, W) unchanged. All raise ShapeError
for an input that is not an image of one or three channels.
"""

from collections.abc import Callable

import numpy as np

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
    return _adjusted(img, lambda x: multiply(x, factor))


def adjust_contrast(img: Image, factor: float) -> Image:
    """The image with the difference of every value from the mean gray value times factor, not negative."""
    return _adjusted(img, lambda x: stretch_contrast(x, factor))


def adjust_saturation(img: Image, factor: float) -> Image:
    """The image with the difference of every pixel from its own gray value times factor, not negative."""
    return _adjusted(img, lambda x: blend_with_gray(x, factor))


def adjust_hue(img: Image, shift: float) -> Image:
    """The image with the hue of every pixel shifted, in turns of the hue circle, [-0.5, 0.5]: 1/3 makes red green."""
    return _adjusted(img, lambda x: turn_hsv(x, hue=shift, saturation=1.0))


def as_float(img: Image) -> Image:
    """A new contiguous float32 copy (C, H, W), C 1 or 3. Raises ShapeError for any other input."""
    img = as_img(img)
    if len(img) not in (1, 3):
        raise ShapeError("img must be (3, H, W) RGB or (1, H, W) gray", got=img.shape)
    return np.array(img, dtype=np.float32, order="C")


def multiply(x: Image, factor: float) -> None:
    """x times factor, clipped, in place. x: (C, H, W) float32."""
    x *= np.float32(factor)
    _clip_if(factor, x)


def add(x: Image, delta: float) -> None:
    """x plus delta, clipped, in place. x: (C, H, W) float32."""
    x += np.float32(delta)
    np.clip(x, 0, 255, out=x)


def stretch_contrast(x: Image, factor: float) -> None:
    """The difference from the mean gray value times factor, clipped, in place. x: (C, H, W) float32."""
    means = x.reshape(len(x), -1).mean(axis=1)
    mean = means @ LUMA if len(x) == 3 else means[0]
    x *= np.float32(factor)
    x += np.float32((1 - factor) * mean)
    _clip_if(factor, x)


def blend_with_gray(x: Image, factor: float) -> None:
    """The difference from each pixel's gray value times factor, clipped, in place, if C is 3. x: (C, H, W) float32."""
    if len(x) == 1:
        return
    gray = LUMA @ x.reshape(3, -1)
    gray *= np.float32(1 - factor)
    x *= np.float32(factor)
    x += gray.reshape(x.shape[1:])
    _clip_if(factor, x)


def turn_hsv(x: Image, *, hue: float, saturation: float) -> None:
    """Hue shifted by a fraction of a turn and HSV saturation multiplied, in place. x: (C, H, W) float32."""
    if len(x) == 1:
        return
    flat = x.reshape(3, -1)
    if not np.shares_memory(flat, x):
        raise ShapeError("turn_hsv works in place and needs contiguous memory", got=x.strides)
    for start in range(0, flat.shape[1], _BLOCK):
        block = flat[:, start : start + _BLOCK]
        if saturation != 1:
            _saturate(block, saturation)
        if hue:
            _turn(block, np.float32(hue * 6))


def _clip_if(factor: float, x: Image) -> None:
    # a factor in [0, 1] gives a weighted mean of two values in [0, 255], which needs no clipping
    if not 0 <= factor <= 1:
        np.clip(x, 0, 255, out=x)


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


def _adjusted(img: Image, change: Callable[[Image], None]) -> Image:
    x = as_float(img)
    change(x)
    return keep_dtype(x, np.asarray(img).dtype)
