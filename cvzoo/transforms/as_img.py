"""The argument check of every public function that takes an image."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.typing.aliases import ArrayLike, Image


def as_img(img: ArrayLike) -> Image:
    """The array itself if it is a (C, H, W) with at least one pixel. Raises ShapeError otherwise."""
    img = np.asarray(img)
    if img.ndim != 3 or img.shape[1] == 0 or img.shape[2] == 0:
        raise ShapeError("img must be (C, H, W) with at least one pixel", got=img.shape)
    return img
