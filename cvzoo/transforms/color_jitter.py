"""Brightness, contrast, saturation and hue changed at random, in random order."""

from typing import Literal

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.color import as_float, blend_with_gray, multiply, stretch_contrast, turn_hsv
from cvzoo.transforms.color_8bit import Pixels, check_backend
from cvzoo.transforms.keep_dtype import keep_dtype

ColorBackend = Literal["numpy", "opencv"]

_STEPS = ("brightness", "contrast", "saturation", "hue")


def color_jitter(
    img,
    *,
    brightness=0,
    contrast=0,
    saturation=0,
    hue=0,
    dtype=None,
    backend: ColorBackend = "numpy",
    return_param=False,
    rng=None,
):
    """The photo with its colours changed at random, a new contiguous array.

    img: (C, H, W) in [0, 255], C 1 or 3, uint8 or float
    brightness, contrast, saturation: the factor is drawn from [1 - this, 1 + this], not below 0, or from a pair
    hue: the shift is drawn from [-this, this], in turns of the hue circle, at most 0.5, or from a pair
    backend: "numpy" computes in float32 and rounds once, if at all; "opencv", for uint8 RGB photos, takes half the
        time, rounds after every step, knows 256 hues
    dtype: of the result; None is that of img, float32 spares a uint8 photo the rounding
    rng: where to draw from; None is this thread's generator
    Returns the same shape in [0, 255]; with return_param also a dictionary of brightness, contrast,
    saturation (factors), hue (turns) and order (names, first to last), without those that are 0.
    Raises ShapeError if img is not (1 or 3, H, W), ValueRangeError if a range makes no sense,
    DtypeError if OpenCV is to change anything but uint8 RGB, MissingExtraError if it is absent.
    """
    param = draw_jitter(brightness, contrast, saturation, hue, as_rng(rng))
    jittered = apply_jitter(img, param, dtype, backend)
    return (jittered, param) if return_param else jittered


def draw_jitter(brightness, contrast, saturation, hue, rng):
    """A dictionary of the factors and their order."""
    param = {}
    for name, value in zip(_STEPS, (brightness, contrast, saturation, hue)):
        low, high = _range(name, value)
        if (low, high) != ((0, 0) if name == "hue" else (1, 1)):
            param[name] = float(rng.uniform(low, high))
    names = list(param)
    param["order"] = tuple(names[index] for index in rng.permutation(len(names)))
    return param


def apply_jitter(img, param, dtype=None, backend="numpy"):
    """The photo changed as drawn, a new contiguous array."""
    check_backend(backend)
    dtype = np.dtype(dtype or np.asarray(img).dtype)
    if backend == "opencv":
        return _apply_8bit(Pixels(img), param).img(dtype)
    x = as_float(img)
    for name in param["order"]:
        value = param[name]
        if name == "brightness":
            multiply(x, value)
        elif name == "contrast":
            stretch_contrast(x, value)
        elif name == "saturation":
            blend_with_gray(x, value)
        else:
            turn_hsv(x, hue=value, saturation=1.0)
    return keep_dtype(x, dtype)


def _apply_8bit(pixels, param):
    for name in param["order"]:
        value = param[name]
        if name == "brightness":
            pixels.affine(value, 0)
        elif name == "contrast":
            pixels.stretch_contrast(value)
        elif name == "saturation":
            pixels.blend_with_gray(value)
        else:
            pixels.turn_hsv(hue=value, saturation=1.0)
    return pixels


def _range(name, value):
    least, most = (-0.5, 0.5) if name == "hue" else (0, np.inf)
    if isinstance(value, tuple | list):
        low, high = value
    elif name == "hue":
        low, high = -value, value
    else:
        low, high = max(1 - value, 0), 1 + value
    if not least <= low <= high <= most:
        raise ValueRangeError(f"{name} makes no sense", expected=f"a range within [{least}, {most}]", got=value)
    return low, high
