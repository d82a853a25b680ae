"""Random rotation by a multiple of 90 degrees."""

from typing import Literal, overload

import numpy as np

from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.typing.aliases import Image


@overload
def random_rotate(
    img: Image, return_param: Literal[False] = False, *, rng: np.random.Generator | None = ...
) -> Image: ...
@overload
def random_rotate(
    img: Image, return_param: Literal[True], *, rng: np.random.Generator | None = ...
) -> tuple[Image, dict[str, int]]: ...
def random_rotate(
    img: Image, return_param: bool = False, *, rng: np.random.Generator | None = None
) -> Image | tuple[Image, dict[str, int]]:
    """The image rotated counterclockwise by 0, 90, 180 or 270 degrees, all equally likely; a new contiguous array.

    img: (C, H, W), any dtype
    rng: random generator; None is this thread's
    Returns (C, H', W'); with return_param, also a dictionary of k, the number of quarter turns: transform the boxes by
    `rotate_bbox(bbox, 90 * k, size)`.
    Raises ShapeError if img is not (C, H, W).
    """
    img = as_img(img)
    param = {"k": int(as_rng(rng).integers(4))}
    rotated = np.rot90(img, param["k"], axes=(1, 2)).copy()
    return (rotated, param) if return_param else rotated
