"""Color jitter: random brightness, contrast, saturation and hue, in random order."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.color_8bit import pixels_of
from cvzoo.typing.aliases import Image

ColorBackend = Literal["numpy", "opencv"]
Factor: TypeAlias = float | Sequence[float]  # a deviation, or the range itself

_STEPS = ("brightness", "contrast", "saturation", "hue")


@overload
def color_jitter(
    img: Image,
    *,
    brightness: Factor = ...,
    contrast: Factor = ...,
    saturation: Factor = ...,
    hue: Factor = ...,
    dtype: npt.DTypeLike | None = ...,
    backend: ColorBackend = ...,
    return_param: Literal[False] = False,
    rng: np.random.Generator | None = ...,
) -> Image: ...
@overload
def color_jitter(
    img: Image,
    *,
    brightness: Factor = ...,
    contrast: Factor = ...,
    saturation: Factor = ...,
    hue: Factor = ...,
    dtype: npt.DTypeLike | None = ...,
    backend: ColorBackend = ...,
    return_param: Literal[True],
    rng: np.random.Generator | None = ...,
) -> tuple[Image, dict[str, Any]]: ...
def color_jitter(
    img: Image,
    *,
    brightness: Factor = 0,
    contrast: Factor = 0,
    saturation: Factor = 0,
    hue: Factor = 0,
    dtype: npt.DTypeLike | None = None,
    backend: ColorBackend = "numpy",
    return_param: bool = False,
    rng: np.random.Generator | None = None,
) -> Image | tuple[Image, dict[str, Any]]:
    """The image with random brightness, contrast, saturation and hue, a new contiguous array.

    img: (C, H, W) in [0, 255], C 1 or 3, uint8 or float
    brightness, contrast, saturation: the factor is drawn from [1 - this, 1 + this], not below 0, or from a pair
    hue: the shift is drawn from [-this, this], in turns of the hue circle, at most 0.5, or from a pair
    backend: "numpy" computes in float32 and rounds once, if at all; "opencv", for uint8 RGB images, takes half the
        time, rounds after every step, and has 256 hues
    dtype: of the result; None is that of img, float32 avoids the rounding of a uint8 image
    rng: random generator; None is this thread's
    Returns the same shape in [0, 255]; with return_param, also a dictionary of brightness, contrast,
    saturation (factors), hue (turns) and order (names, first to last), without those that are 0.
    Raises ShapeError if img is not (1 or 3, H, W), ValueRangeError for an invalid range, DtypeError if img is not uint8
    RGB with backend "opencv", MissingExtraError if OpenCV is not installed.
    """
    param = draw_jitter(brightness, contrast, saturation, hue, as_rng(rng))
    jittered = apply_jitter(img, param, dtype, backend)
    return (jittered, param) if return_param else jittered


def draw_jitter(
    brightness: Factor, contrast: Factor, saturation: Factor, hue: Factor, rng: np.random.Generator
) -> dict[str, Any]:
    """Random parameters of `color_jitter`: a dictionary of the factors and their order."""
    param: dict[str, Any] = {}
    for name, value in zip(_STEPS, (brightness, contrast, saturation, hue)):
        low, high = _range(name, value)
        if (low, high) != ((0, 0) if name == "hue" else (1, 1)):
            param[name] = float(rng.uniform(low, high))
    names = list(param)
    param["order"] = tuple(names[index] for index in rng.permutation(len(names)))
    return param


def apply_jitter(
    img: Image, param: Mapping[str, Any], dtype: npt.DTypeLike | None = None, backend: ColorBackend = "numpy"
) -> Image:
    """The image with drawn parameters applied, a new contiguous array."""
    pixels = pixels_of(img, backend)
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
    return pixels.img(dtype or np.asarray(img).dtype)


def _range(name: str, value: Factor) -> tuple[float, float]:
    least, most = (-0.5, 0.5) if name == "hue" else (0, np.inf)
    if isinstance(value, Sequence):
        low, high = value
    elif name == "hue":
        low, high = -value, value
    else:
        low, high = max(1 - value, 0), 1 + value
    if not least <= low <= high <= most:
        raise ValueRangeError(f"{name} is not a valid range", expected=f"a range within [{least}, {most}]", got=value)
    return low, high
