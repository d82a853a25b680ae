"""SSD's photometric distortion."""

from collections.abc import Mapping
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.color_8bit import pixels_of
from cvzoo.transforms.color_jitter import ColorBackend
from cvzoo.typing.aliases import Image


@overload
def random_distort(
    img: Image,
    brightness_delta: float = ...,
    contrast_low: float = ...,
    contrast_high: float = ...,
    saturation_low: float = ...,
    saturation_high: float = ...,
    hue_delta: float = ...,
    *,
    dtype: npt.DTypeLike | None = ...,
    backend: ColorBackend = ...,
    return_param: Literal[False] = False,
    rng: np.random.Generator | None = ...,
) -> Image: ...
@overload
def random_distort(
    img: Image,
    brightness_delta: float = ...,
    contrast_low: float = ...,
    contrast_high: float = ...,
    saturation_low: float = ...,
    saturation_high: float = ...,
    hue_delta: float = ...,
    *,
    dtype: npt.DTypeLike | None = ...,
    backend: ColorBackend = ...,
    return_param: Literal[True],
    rng: np.random.Generator | None = ...,
) -> tuple[Image, dict[str, Any]]: ...
def random_distort(
    img: Image,
    brightness_delta: float = 32,
    contrast_low: float = 0.5,
    contrast_high: float = 1.5,
    saturation_low: float = 0.5,
    saturation_high: float = 1.5,
    hue_delta: float = 18,
    *,
    dtype: npt.DTypeLike | None = None,
    backend: ColorBackend = "numpy",
    return_param: bool = False,
    rng: np.random.Generator | None = None,
) -> Image | tuple[Image, dict[str, Any]]:
    """The image with random brightness, contrast, saturation and hue, each changed with probability 1/2.

    img: (3, H, W) RGB in [0, 255], uint8 or float
    brightness_delta: maximum that is added to or subtracted from every value
    contrast_low, contrast_high: range of the factor of every value
    saturation_low, saturation_high: range of the factor of the HSV saturation
    hue_delta: maximum shift of the hue in either direction, in OpenCV's units of two degrees
    backend: "numpy" or "opencv", as in `color_jitter`
    dtype: of the result; None is that of img, float32 avoids the rounding of a uint8 image
    rng: random generator; None is this thread's
    Returns the same shape in [0, 255], a new contiguous array; with return_param, also a dictionary of
    brightness, contrast, saturation, hue (those that are not drawn are None) and contrast_first.
    Raises ShapeError if img is not (1 or 3, H, W).

    Source: Liu et al., "SSD: Single Shot MultiBox Detector", 2016, section 3.6, with the constants of its Caffe code.
    Where we differ: there is no rounding between the steps, and hue moves by fractions of a unit.
    """
    param = draw_distortion(
        brightness_delta, (contrast_low, contrast_high), (saturation_low, saturation_high), hue_delta, as_rng(rng)
    )
    distorted = apply_distortion(img, param, dtype, backend)
    return (distorted, param) if return_param else distorted


def draw_distortion(
    brightness_delta: float,
    contrast_range: tuple[float, float],
    saturation_range: tuple[float, float],
    hue_delta: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Random parameters of `random_distort`: brightness, contrast, saturation, hue and contrast_first."""
    ranges = {
        "brightness": (-brightness_delta, brightness_delta),
        "contrast": contrast_range,
        "saturation": saturation_range,
        "hue": (-hue_delta, hue_delta),
    }
    param = {name: float(rng.uniform(*bounds)) if rng.random() < 0.5 else None for name, bounds in ranges.items()}
    param["contrast_first"] = bool(rng.random() < 0.5)
    return param


def apply_distortion(
    img: Image, param: Mapping[str, Any], dtype: npt.DTypeLike | None = None, backend: ColorBackend = "numpy"
) -> Image:
    """The image with drawn parameters applied, a new contiguous array."""
    pixels = pixels_of(img, backend)
    for name, value in _steps(param):
        if name == "brightness":
            pixels.affine(1, value)
        elif name == "contrast":
            pixels.affine(value, 0)
        else:
            pixels.turn_hsv(hue=value[0], saturation=value[1])
    return pixels.img(dtype or np.asarray(img).dtype)


def _steps(param: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """(name, value) of each step in order; hue and saturation are one step."""
    contrast = [("contrast", param["contrast"])] if param["contrast"] is not None else []
    hsv = []
    if param["saturation"] is not None or param["hue"] is not None:
        saturation = 1.0 if param["saturation"] is None else param["saturation"]
        # SSD's hue is in OpenCV's units, 180 for a full turn
        hsv = [("hsv", ((param["hue"] or 0) / 180, saturation))]
    brightness = [("brightness", param["brightness"])] if param["brightness"] is not None else []
    # contrast comes before or after hue and saturation, at random, as in SSD's code
    return brightness + (contrast + hsv if param["contrast_first"] else hsv + contrast)
