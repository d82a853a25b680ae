"""Resize an image with a random interpolation, SSD's augmentation against dependence on any one of them."""

from collections.abc import Sequence
from typing import Literal, overload

import numpy as np

from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.resize import Backend, Interpolation, resize
from cvzoo.typing.aliases import Image

INTERPOLATIONS: Sequence[Interpolation] = ("bilinear", "box", "nearest", "bicubic", "lanczos")


@overload
def resize_with_random_interpolation(
    img: Image,
    size: Sequence[int],
    return_param: Literal[False] = False,
    *,
    backend: Backend = ...,
    rng: np.random.Generator | None = ...,
) -> Image: ...
@overload
def resize_with_random_interpolation(
    img: Image,
    size: Sequence[int],
    return_param: Literal[True],
    *,
    backend: Backend = ...,
    rng: np.random.Generator | None = ...,
) -> tuple[Image, dict[str, Interpolation]]: ...
def resize_with_random_interpolation(
    img: Image,
    size: Sequence[int],
    return_param: bool = False,
    *,
    backend: Backend = "pillow",
    rng: np.random.Generator | None = None,
) -> Image | tuple[Image, dict[str, Interpolation]]:
    """The image resized with a random one of the five interpolations of `resize`; a new array.

    img: (C, H, W), any real dtype
    size: (H, W) of the result
    backend: as in `resize`
    rng: random generator; None is this thread's
    Returns (C, *size) of the dtype that `resize` gives; with return_param, also a dictionary of interpolation.
    Raises ShapeError if img is not (C, H, W) or size is not a pair.
    """
    img = as_img(img)
    param = draw_interpolation(as_rng(rng))
    resized = resize(img, size, interpolation=param["interpolation"], backend=backend)
    return (resized, param) if return_param else resized


def draw_interpolation(rng: np.random.Generator) -> dict[str, Interpolation]:
    """Random parameters of `resize_with_random_interpolation`: a dictionary of interpolation."""
    return {"interpolation": INTERPOLATIONS[int(rng.integers(len(INTERPOLATIONS)))]}
