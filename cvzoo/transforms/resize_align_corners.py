"""Resize a photo as darknet does: bilinear, corners on corners, no antialias."""

import numpy as np

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
    height, width = as_size(size)
    lower, weight = _positions(img.shape[2], width)
    upper = np.minimum(lower + 1, img.shape[2] - 1)
    rows = img[:, :, lower] * (1 - weight) + img[:, :, upper] * weight
    lower, weight = _positions(img.shape[1], height)
    upper = np.minimum(lower + 1, img.shape[1] - 1)
    weight = weight[:, None]
    return rows[:, lower] * (1 - weight) + rows[:, upper] * weight


def _positions(old, new):
    """The lower neighbour of each new pixel, and the weight of the upper one."""
    if new == 1:
        # darknet takes the last pixel here, where the scale would be a division by zero
        return np.array([old - 1]), np.zeros(1, np.float32)
    position = np.arange(new, dtype=np.float32) * (np.float32(old - 1) / np.float32(new - 1))
    position[-1] = old - 1
    lower = position.astype(np.int64)
    return lower, position - lower.astype(np.float32)
