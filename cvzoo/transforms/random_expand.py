"""SSD's zoom-out augmentation: an image at a random position of a larger canvas."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.crop import Slices, crop
from cvzoo.typing.aliases import ArrayLike, Image


@overload
def random_expand(
    img: Image,
    max_ratio: float = ...,
    fill: ArrayLike = ...,
    return_param: Literal[False] = False,
    *,
    rng: np.random.Generator | None = ...,
) -> Image: ...
@overload
def random_expand(
    img: Image,
    max_ratio: float = ...,
    fill: ArrayLike = ...,
    *,
    return_param: Literal[True],
    rng: np.random.Generator | None = ...,
) -> tuple[Image, dict[str, Any]]: ...
def random_expand(
    img: Image,
    max_ratio: float = 4,
    fill: ArrayLike = 0,
    return_param: bool = False,
    *,
    rng: np.random.Generator | None = None,
) -> Image | tuple[Image, dict[str, Any]]:
    """The image at a random position of a canvas up to max_ratio times as high and as wide; a new array.

    img: (C, H, W), any dtype
    fill: value of the canvas, one or one per channel; SSD's is the mean of its training images
    rng: random generator; None is this thread's
    Returns (C, H', W') of the same dtype; with return_param, also a dictionary of ratio, y_offset and x_offset (the
    translation of the image and its boxes, in pixels).
    Raises ShapeError if img is not (C, H, W), ValueRangeError if max_ratio is below 1.

    Source: Liu et al., "SSD: Single Shot MultiBox Detector", 2016, section 3.6.
    """
    img = as_img(img)
    param = draw_canvas(img.shape[1:], max_ratio, as_rng(rng))
    expanded = crop(img, **canvas_window(img.shape[1:], param), fill=fill)
    return (expanded, param) if return_param else expanded


def draw_canvas(in_size: Sequence[int], max_ratio: float, rng: np.random.Generator) -> dict[str, Any]:
    """Random parameters of `random_expand`: a dictionary of ratio, y_offset and x_offset."""
    if not max_ratio >= 1:
        raise ValueRangeError("max_ratio must be at least 1", got=max_ratio)
    ratio = float(rng.uniform(1, max_ratio))
    height, width = (int(side * ratio) for side in in_size)
    return {
        "ratio": ratio,
        "y_offset": int(rng.integers(height - in_size[0] + 1)),
        "x_offset": int(rng.integers(width - in_size[1] + 1)),
    }


def canvas_window(in_size: Sequence[int], param: Mapping[str, Any]) -> Slices:
    """The canvas as a crop window around the image: a dictionary of y_slice and x_slice."""
    y, x = param["y_offset"], param["x_offset"]
    height, width = (int(side * param["ratio"]) for side in in_size)
    return {"y_slice": slice(-y, height - y), "x_slice": slice(-x, width - x)}
