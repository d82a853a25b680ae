"""SSD's changes of colour."""

import numpy as np

from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.color import add, as_float, multiply, turn_hsv
from cvzoo.transforms.color_8bit import Pixels, check_backend
from cvzoo.transforms.color_jitter import ColorBackend
from cvzoo.transforms.keep_dtype import keep_dtype


def random_distort(
    img,
    *,
    brightness_delta=32,
    contrast_low=0.5,
    contrast_high=1.5,
    saturation_low=0.5,
    saturation_high=1.5,
    hue_delta=18,
    dtype=None,
    backend: ColorBackend = "numpy",
    return_param=False,
    rng=None,
):
    """The photo with brightness, contrast, saturation and hue changed, each with probability one half.

    img: (3, H, W) RGB in [0, 255], uint8 or float
    brightness_delta: the most that is added to or taken from every value
    contrast_low, contrast_high: the range of the factor of every value
    saturation_low, saturation_high: the range of the factor of HSV's saturation
    hue_delta: the most that hue moves either way, in units of two degrees as OpenCV counts
    backend: "numpy" or "opencv", as in `color_jitter`
    dtype: of the result; None is that of img, float32 spares a uint8 photo the rounding
    rng: where to draw from; None is this thread's generator
    Returns the same shape in [0, 255], a new contiguous array; with return_param also a dictionary of
    brightness, contrast, saturation, hue (those that are not drawn are None) and contrast_first.
    Raises ShapeError if img is not (1 or 3, H, W).

    Source: Liu et al., "SSD: Single Shot MultiBox Detector", 2016, section 3.6, and its Caffe code for the numbers.
    Where we differ: nothing is cut to whole numbers between the steps, and hue moves by fractions of a unit.
    """
    param = draw_distortion(
        brightness_delta, (contrast_low, contrast_high), (saturation_low, saturation_high), hue_delta, as_rng(rng)
    )
    distorted = apply_distortion(img, param, dtype, backend)
    return (distorted, param) if return_param else distorted


def draw_distortion(brightness_delta, contrast_range, saturation_range, hue_delta, rng):
    """A dictionary of brightness, contrast, saturation, hue and contrast_first."""
    ranges = {
        "brightness": (-brightness_delta, brightness_delta),
        "contrast": contrast_range,
        "saturation": saturation_range,
        "hue": (-hue_delta, hue_delta),
    }
    param = {name: float(rng.uniform(*bounds)) if rng.random() < 0.5 else None for name, bounds in ranges.items()}
    param["contrast_first"] = bool(rng.random() < 0.5)
    return param


def apply_distortion(img, param, dtype=None, backend="numpy"):
    """The photo changed as drawn, a new contiguous array."""
    check_backend(backend)
    dtype = np.dtype(dtype or np.asarray(img).dtype)
    if backend == "opencv":
        return _apply_8bit(Pixels(img), param).img(dtype)
    x = as_float(img)
    for name, value in _steps(param):
        if name == "brightness":
            add(x, value)
        elif name == "contrast":
            multiply(x, value)
        else:
            turn_hsv(x, hue=value[0], saturation=value[1])
    return keep_dtype(x, dtype)


def _apply_8bit(pixels, param):
    for name, value in _steps(param):
        if name == "brightness":
            pixels.affine(1, value)
        elif name == "contrast":
            pixels.affine(value, 0)
        else:
            pixels.turn_hsv(hue=value[0], saturation=value[1])
    return pixels


def _steps(param):
    """Names and values in their order; hue and saturation are one step."""
    contrast = [("contrast", param["contrast"])] if param["contrast"] is not None else []
    hsv = []
    if param["saturation"] is not None or param["hue"] is not None:
        saturation = 1.0 if param["saturation"] is None else param["saturation"]
        hsv = [("hsv", ((param["hue"] or 0) / 180, saturation))]
    brightness = [("brightness", param["brightness"])] if param["brightness"] is not None else []
    return brightness + (contrast + hsv if param["contrast_first"] else hsv + contrast)
