"""Resize an image as darknet does: bilinear, corners aligned, no antialiasing."""

from collections.abc import Sequence

import numpy as np

from cvzoo.backends.numpy.resize import resize_corners
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.typing.aliases import Image


def resize_align_corners(img: Image, size: Sequence[int]) -> Image:
    """The resized image, with aligned corners; a new contiguous float32 array.

    img: (C, H, W), any number of channels, any real dtype
    size: (H, W) of the result
    Returns (C, H', W') float32; row y' interpolates the two rows next to y' * (H - 1) / (H' - 1), at any scale.
    Raises ShapeError if img is not (C, H, W) or size is not a pair.

    Source: `resize_image` of darknet (Redmon), columns first, then rows, all in float32. Where we differ: darknet's
    last row may become dark when (H' - 1) * scale rounds below H - 1; ours is always the last row.
    """
    img = as_img(img).astype(np.float32, copy=False)
    return resize_corners(img, as_size(size))
