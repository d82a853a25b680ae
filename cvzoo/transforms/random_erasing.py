"""Cover a random rectangle of a photo."""

import math

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.keep_dtype import keep_dtype

_N_TRIAL = 100


def random_erasing(
    img,
    *,
    prob=0.5,
    scale_ratio_range=(0.02, 0.4),
    aspect_ratio_range=(0.3, 1 / 0.3),
    fill=None,
    return_param=False,
    rng=None,
):
    """The photo, with probability prob, with a rectangle of it covered; a new array.

    img: (C, H, W) in [0, 255], any real dtype
    scale_ratio_range: the area of the rectangle over that of the photo
    aspect_ratio_range: height over width of the rectangle
    fill: what covers it, one number or one a channel; None is noise, every value drawn from [0, 255]
    rng: where to draw from; None is this thread's generator
    Returns the same shape and dtype; with return_param also a dictionary of y_slice, x_slice (both None where nothing
    is covered) and noise_seed.
    Raises ShapeError if img is not (C, H, W), ValueRangeError if a range is not positive and ascending.

    Source: Zhong et al., "Random Erasing Data Augmentation", 2017, algorithm 1. Where we differ: after a hundred
    rectangles that do not fit, none is.
    """
    img = as_img(img)
    param = draw_rectangle(img.shape[1:], prob, scale_ratio_range, aspect_ratio_range, as_rng(rng))
    erased = cover(img, fill, param)
    return (erased, param) if return_param else erased


def draw_rectangle(in_size, prob, scale_ratio_range, aspect_ratio_range, rng):
    """A dictionary of y_slice, x_slice and noise_seed."""
    for name, (low, high) in (("scale_ratio_range", scale_ratio_range), ("aspect_ratio_range", aspect_ratio_range)):
        if not 0 < low <= high:
            raise ValueRangeError(f"{name} must be positive and ascending", got=(low, high))
    height, width = in_size
    if rng.random() < prob:
        for _ in range(_N_TRIAL):
            area = rng.uniform(*scale_ratio_range) * height * width
            aspect_ratio = rng.uniform(*aspect_ratio_range)
            new_h, new_w = int(math.sqrt(area * aspect_ratio)), int(math.sqrt(area / aspect_ratio))
            if 0 < new_h < height and 0 < new_w < width:
                y, x = int(rng.integers(height - new_h + 1)), int(rng.integers(width - new_w + 1))
                seed = int(rng.integers(2**63))
                return {"y_slice": slice(y, y + new_h), "x_slice": slice(x, x + new_w), "noise_seed": seed}
    return {"y_slice": None, "x_slice": None, "noise_seed": None}


def cover(img, fill, param):
    """A copy of the photo with the rectangle covered."""
    out = img.copy("K")
    if param["y_slice"] is None:
        return out
    window = out[:, param["y_slice"], param["x_slice"]]
    if fill is None:
        # drawn from its own seed, so that the same draw gives the same pixels again
        noise = np.random.default_rng(param["noise_seed"]).random(window.shape, np.float32)
        window[...] = keep_dtype(noise * np.float32(255), img.dtype)
    else:
        window[...] = np.asarray(fill).reshape(-1, 1, 1)
    return out
