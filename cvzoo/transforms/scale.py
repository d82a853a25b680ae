"""Resize a photo in proportion."""

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.resize import Backend, Interpolation, resize


def scaled_size(in_size, *, short=None, long=None):
    """The size (H, W), in proportion, whose short side is `short`, unless the long side would pass `long`.

    With `short` alone or `long` alone, that side decides. Parts of a pixel are cut off the other side, as ChainerCV and
    torchvision do; no side becomes less than 1.
    Raises ValueRangeError if neither is given or one is not positive.
    """
    limits = [(short, min(in_size)), (long, max(in_size))]
    if (short is None and long is None) or any(side is not None and side <= 0 for side, _ in limits):
        raise ValueRangeError("short or long, or both, must be given and positive", got=f"short={short}, long={long}")
    limit, now = min((pair for pair in limits if pair[0] is not None), key=lambda pair: pair[0] / pair[1])
    # multiplied first: a product of whole numbers is exact, and so is a quotient that is whole
    return tuple(max(int(limit * side / now), 1) for side in in_size)


def scale(
    img,
    size=None,
    *,
    fit_short=True,
    short=None,
    long=None,
    interpolation: Interpolation = "bilinear",
    backend: Backend = "pillow",
):
    """The photo resized in proportion, so that its short side is `short` or its long side is `long`, the smaller wins.

    img: (C, H, W), any real dtype
    short, long: pixels; Faster R-CNN's sizes are short=600, long=1000
    size: the short side, or the long one if fit_short is false: ChainerCV's way to say it
    interpolation, backend: as in `resize`
    Returns (C, H', W'), a new array, of the dtype that `resize` gives.
    Raises ShapeError if img is not (C, H, W), ValueRangeError if no side is given or one twice.
    """
    img = as_img(img)
    if size is not None:
        if short is not None or long is not None:
            raise ValueRangeError("size, or short and long, not both", got=f"size={size}, short={short}, long={long}")
        short, long = (size, None) if fit_short else (None, size)
    size = scaled_size(img.shape[1:], short=short, long=long)
    return resize(img, size, interpolation=interpolation, backend=backend)
