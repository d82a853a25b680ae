"""Random erasing of a rectangle of an image."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.keep_dtype import keep_dtype
from cvzoo.typing.aliases import ArrayLike, Image

_N_TRIAL = 100  # a rectangle that does not fit is drawn again, and at last left out


@overload
def random_erasing(
    img: Image,
    *,
    prob: float = ...,
    scale_ratio_range: tuple[float, float] = ...,
    aspect_ratio_range: tuple[float, float] = ...,
    fill: ArrayLike | None = ...,
    return_param: Literal[False] = False,
    rng: np.random.Generator | None = ...,
) -> Image: ...
@overload
def random_erasing(
    img: Image,
    *,
    prob: float = ...,
    scale_ratio_range: tuple[float, float] = ...,
    aspect_ratio_range: tuple[float, float] = ...,
    fill: ArrayLike | None = ...,
    return_param: Literal[True],
    rng: np.random.Generator | None = ...,
) -> tuple[Image, dict[str, Any]]: ...
def random_erasing(
    img: Image,
    *,
    prob: float = 0.5,
    scale_ratio_range: tuple[float, float] = (0.02, 0.4),
    aspect_ratio_range: tuple[float, float] = (0.3, 1 / 0.3),
    fill: ArrayLike | None = None,
    return_param: bool = False,
    rng: np.random.Generator | None = None,
) -> Image | tuple[Image, dict[str, Any]]:
    """The image with, at probability prob, a random rectangle erased; a new array.

    img: (C, H, W) in [0, 255], any real dtype
    scale_ratio_range: area of the rectangle over that of the image
    aspect_ratio_range: height over width of the rectangle
    fill: value of the rectangle, one or one per channel; None is noise, every value drawn from [0, 255]
    rng: random generator; None is this thread's
    Returns the same shape and dtype; with return_param, also a dictionary of y_slice, x_slice (both None where nothing
    is erased) and noise_seed.
    Raises ShapeError if img is not (C, H, W), ValueRangeError if a range is not positive and ascending.

    Source: Zhong et al., "Random Erasing Data Augmentation", 2017, algorithm 1. Where we differ: after a hundred
    rectangles that do not fit, nothing is erased.
    """
    img = as_img(img)
    param = draw_rectangle(img.shape[1:], prob, scale_ratio_range, aspect_ratio_range, as_rng(rng))
    erased = cover(img, fill, param)
    return (erased, param) if return_param else erased


def draw_rectangle(
    in_size: Sequence[int],
    prob: float,
    scale_ratio_range: tuple[float, float],
    aspect_ratio_range: tuple[float, float],
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Random parameters of `random_erasing`: a dictionary of y_slice, x_slice and noise_seed."""
    for name, (low, high) in (("scale_ratio_range", scale_ratio_range), ("aspect_ratio_range", aspect_ratio_range)):
        if not 0 < low <= high:
            raise ValueRangeError(f"{name} must be positive and ascending", got=(low, high))
    height, width = in_size
    if rng.random() < prob:
        for _ in range(_N_TRIAL):
            area = rng.uniform(*scale_ratio_range) * height * width
            aspect_ratio = rng.uniform(*aspect_ratio_range)
            new_h, new_w = int(math.sqrt(area * aspect_ratio)), int(math.sqrt(area / aspect_ratio))
            if 0 < new_h < height and 0 < new_w < width:
                y, x = int(rng.integers(height - new_h + 1)), int(rng.integers(width - new_w + 1))
                seed = int(rng.integers(2**63))
                return {"y_slice": slice(y, y + new_h), "x_slice": slice(x, x + new_w), "noise_seed": seed}
    return {"y_slice": None, "x_slice": None, "noise_seed": None}


def cover(img: Image, fill: ArrayLike | None, param: Mapping[str, Any]) -> Image:
    """A copy of the image with the rectangle filled."""
    out = img.copy("K")
    if param["y_slice"] is None:
        return out
    window = out[:, param["y_slice"], param["x_slice"]]
    if fill is None:
        # noise of a seed of its own, so that the same parameters give the same pixels again
        noise = np.random.default_rng(param["noise_seed"]).random(window.shape, np.float32)
        window[...] = keep_dtype(noise * np.float32(255), img.dtype)
    else:
        window[...] = np.asarray(fill).reshape(-1, 1, 1)
    return out
