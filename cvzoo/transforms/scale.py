"""Resize a photo in proportion."""

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.resize import Interpolation, resize


def scaled_size(in_size, *, short=None, long=None):
    """The size (H, W), in proportion, whose short side is `short`, unless the long side would pass `long`.

    With `short` alone or `long` alone, that side decides. Sides are rounded to the nearest pixel, at least 1.
    Raises ValueRangeError if neither is given or one is not positive.
    """
    limits = [(short, min(in_size)), (long, max(in_size))]
    if (short is None and long is None) or any(side is not None and side <= 0 for side, _ in limits):
        raise ValueRangeError("short or long, or both, must be given and positive", got=f"short={short}, long={long}")
    factor = min(side / now for side, now in limits if side is not None)
    return tuple(max(round(side * factor), 1) for side in in_size)


def scale(img, *, short=None, long=None, interpolation: Interpolation = "bilinear"):
    """The photo resized in proportion, so that its short side is `short` or its long side is `long`, the smaller wins.

    img: (C, H, W), any real dtype
    short, long: pixels; Faster R-CNN's sizes are short=600, long=1000
    Returns (C, H', W') float32, a new array.
    Raises ShapeError if img is not (C, H, W), ValueRangeError if neither side is given.
    """
    img = as_img(img)
    return resize(img, scaled_size(img.shape[1:], short=short, long=long), interpolation=interpolation)
