"""Random flip."""

from typing import Literal, overload

import numpy as np

from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.flip import flip
from cvzoo.typing.aliases import Image


@overload
def random_flip(
    img: Image,
    y_random: bool = ...,
    x_random: bool = ...,
    return_param: Literal[False] = False,
    *,
    rng: np.random.Generator | None = ...,
) -> Image: ...
@overload
def random_flip(
    img: Image,
    y_random: bool = ...,
    x_random: bool = ...,
    *,
    return_param: Literal[True],
    rng: np.random.Generator | None = ...,
) -> tuple[Image, dict[str, bool]]: ...
def random_flip(
    img: Image,
    y_random: bool = False,
    x_random: bool = False,
    return_param: bool = False,
    *,
    rng: np.random.Generator | None = None,
) -> Image | tuple[Image, dict[str, bool]]:
    """The image, flipped with probability 1/2 along each enabled axis; a new contiguous array.

    img: (C, H, W), any dtype
    y_random, x_random: whether to flip vertically and horizontally
    rng: random generator; None is this thread's
    Returns (C, H, W); with return_param, also a dictionary of y_flip and x_flip.
    Raises ShapeError if img is not (C, H, W).
    """
    img = as_img(img)
    param = draw_flip(y_random, x_random, as_rng(rng))
    flipped = flip(img, **param)
    return (flipped, param) if return_param else flipped


def draw_flip(y_random: bool, x_random: bool, rng: np.random.Generator) -> dict[str, bool]:
    """Random parameters of `random_flip`: a dictionary of y_flip and x_flip."""
    return {"y_flip": bool(y_random and rng.random() < 0.5), "x_flip": bool(x_random and rng.random() < 0.5)}
