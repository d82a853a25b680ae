"""Random crop of a given size."""

from collections.abc import Sequence
from typing import Literal, overload

import numpy as np

from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.center_crop import check_fits
from cvzoo.transforms.crop import Slices
from cvzoo.typing.aliases import Image


@overload
def random_crop(
    img: Image, size: Sequence[int], return_param: Literal[False] = False, *, rng: np.random.Generator | None = ...
) -> Image: ...
@overload
def random_crop(
    img: Image, size: Sequence[int], return_param: Literal[True], *, rng: np.random.Generator | None = ...
) -> tuple[Image, Slices]: ...
def random_crop(
    img: Image, size: Sequence[int], return_param: bool = False, *, rng: np.random.Generator | None = None
) -> Image | tuple[Image, Slices]:
    """A window of the image at a uniformly random position; a new contiguous array.

    img: (C, H, W), any dtype
    size: (H, W) to cut out
    rng: random generator; None is this thread's
    Returns (C, *size); with return_param, also a dictionary of y_slice and x_slice.
    Raises ShapeError if img is not (C, H, W) or smaller than size.
    """
    img = as_img(img)
    param = draw_window(img.shape[1:], size, as_rng(rng))
    cropped = img[:, param["y_slice"], param["x_slice"]].copy()
    return (cropped, param) if return_param else cropped


def draw_window(in_size: Sequence[int], size: Sequence[int], rng: np.random.Generator) -> Slices:
    """Random parameters of `random_crop`: y_slice and x_slice. Raises ShapeError if size is larger than in_size."""
    height, width = size = as_size(size)
    check_fits(in_size, size)
    y, x = int(rng.integers(in_size[0] - height + 1)), int(rng.integers(in_size[1] - width + 1))
    return {"y_slice": slice(y, y + height), "x_slice": slice(x, x + width)}
