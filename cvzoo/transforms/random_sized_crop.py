"""Inception-style random crop of random area and aspect ratio, the usual training augmentation of classifiers."""

import math
from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.random_crop import draw_window
from cvzoo.typing.aliases import Image

_N_TRIAL = 10  # as in torchvision; after them the scale is drawn from those that fit


@overload
def random_sized_crop(
    img: Image,
    scale_ratio_range: tuple[float, float] = ...,
    aspect_ratio_range: tuple[float, float] = ...,
    return_param: Literal[False] = False,
    *,
    rng: np.random.Generator | None = ...,
) -> Image: ...
@overload
def random_sized_crop(
    img: Image,
    scale_ratio_range: tuple[float, float] = ...,
    aspect_ratio_range: tuple[float, float] = ...,
    *,
    return_param: Literal[True],
    rng: np.random.Generator | None = ...,
) -> tuple[Image, dict[str, Any]]: ...
def random_sized_crop(
    img: Image,
    scale_ratio_range: tuple[float, float] = (0.08, 1),
    aspect_ratio_range: tuple[float, float] = (3 / 4, 4 / 3),
    return_param: bool = False,
    *,
    rng: np.random.Generator | None = None,
) -> Image | tuple[Image, dict[str, Any]]:
    """A window of random area and aspect ratio at a random position; a new contiguous array.

    img: (C, H, W), any dtype
    scale_ratio_range: area of the window over that of the image
    aspect_ratio_range: height over width of the window, or width over height with probability 1/2
    rng: random generator; None is this thread's
    Returns (C, H', W'); with return_param, also a dictionary of y_slice, x_slice, scale_ratio and aspect_ratio (height
    over width). After ten draws that do not fit into the image, the last aspect ratio is kept and the area is drawn
    from those that fit, possibly below its range.
    Raises ShapeError if img is not (C, H, W), ValueRangeError if a range is not positive and ascending.

    Source: Szegedy et al., "Going Deeper with Convolutions", 2015, section 6; the distribution is that of ChainerCV's
    function of this name.
    """
    img = as_img(img)
    param = draw_sized_window(img.shape[1:], scale_ratio_range, aspect_ratio_range, as_rng(rng))
    cropped = img[:, param["y_slice"], param["x_slice"]].copy()
    return (cropped, param) if return_param else cropped


def draw_sized_window(
    in_size: Sequence[int],
    scale_ratio_range: tuple[float, float],
    aspect_ratio_range: tuple[float, float],
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Random parameters of the crop: a dictionary of y_slice, x_slice, scale_ratio and aspect_ratio."""
    for name, (low, high) in (("scale_ratio_range", scale_ratio_range), ("aspect_ratio_range", aspect_ratio_range)):
        if not 0 < low <= high:
            raise ValueRangeError(f"{name} must be positive and ascending", got=(low, high))
    height, width = in_size
    aspect_ratio = 1.0
    for _ in range(_N_TRIAL):
        scale_ratio = rng.uniform(*scale_ratio_range)
        aspect_ratio = rng.uniform(*aspect_ratio_range)
        # tall and wide windows are equally likely whatever the range
        if rng.random() < 0.5:
            aspect_ratio = 1 / aspect_ratio
        new_h, new_w = _sides(in_size, scale_ratio, aspect_ratio)
        if 0 < new_h <= height and 0 < new_w <= width:
            break
    else:
        most = min(height / (width * aspect_ratio), width * aspect_ratio / height, scale_ratio_range[1])
        scale_ratio = rng.uniform(min(scale_ratio_range[0], most), most)
        new_h, new_w = _sides(in_size, scale_ratio, aspect_ratio)
        new_h, new_w = min(max(new_h, 1), height), min(max(new_w, 1), width)
    window = draw_window(in_size, (new_h, new_w), rng)
    return {**window, "scale_ratio": float(scale_ratio), "aspect_ratio": float(aspect_ratio)}


def _sides(in_size: Sequence[int], scale_ratio: float, aspect_ratio: float) -> tuple[int, int]:
    area = scale_ratio * in_size[0] * in_size[1]
    return int(math.sqrt(area * aspect_ratio)), int(math.sqrt(area / aspect_ratio))
