"""Turn a photo by a random number of quarters, or by a random angle."""

import numpy as np

from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng


def random_rotate(img, *, return_param=False, rng=None):
    """The photo turned counterclockwise by 0, 90, 180 or 270 degrees, all equally likely; a new contiguous array.

    img: (C, H, W), any dtype
    rng: where to draw from; None is this thread's generator
    Returns (C, H', W'); with return_param also a dictionary of k, the quarters: boxes follow by
    `rotate_bbox(bbox, 90 * k, size)`.
    Raises ShapeError if img is not (C, H, W).
    """
    img = as_img(img)
    param = {"k": int(as_rng(rng).integers(4))}
    turned = np.rot90(img, param["k"], axes=(1, 2)).copy()
    return (turned, param) if return_param else turned
