"""Resize a photo as darknet does: bilinear, corners on corners, no antialias."""

import numpy as np

from cvzoo.backends.numpy.prepare import resize_corners
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img


def resize_align_corners(img, size):
    """The photo in another size, its corner pixels on the old corner pixels; a new contiguous float32 array.

    img: (C, H, W), any number of channels, any real dtype
    size: (H, W) to come
    Returns (C, H', W') float32; pixel y' mixes the two rows beside y' * (H - 1) / (H' - 1), however much it shrinks.
    Raises ShapeError if img is not (C, H, W) or size no pair.

    Source: `resize_image` of darknet (Redmon), columns first, then rows, all in float32. Where we differ: its last row
    may turn dark when (H' - 1) * scale rounds below H - 1; ours is always the last row.
    """
    img = as_img(img).astype(np.float32, copy=False)
    return resize_corners(img, as_size(size))
