"""Resize an image with its aspect ratio."""

from collections.abc import Sequence

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.resize import Backend, Interpolation, resize
from cvzoo.typing.aliases import Image, Size


def scaled_size(in_size: Sequence[int], *, short: int | None = None, long: int | None = None) -> Size:
    """The size (H, W) of the same aspect ratio with a short side of `short`, unless the long side would exceed `long`.

    With `short` alone or `long` alone, that side decides. The other side is rounded down, as in ChainerCV and
    torchvision; no side becomes less than 1.
    Raises ValueRangeError if neither is given or one is not positive.
    """
    limits = [(limit, side) for limit, side in ((short, min(in_size)), (long, max(in_size))) if limit is not None]
    if not limits or any(limit <= 0 for limit, _ in limits):
        raise ValueRangeError("short or long, or both, must be given and positive", got=f"short={short}, long={long}")
    limit, now = min(limits, key=lambda pair: pair[0] / pair[1])
    # multiplied first: the product of integers is exact, and so is a whole quotient
    height, width = (max(int(limit * side / now), 1) for side in in_size)
    return height, width


def scale(
    img: Image,
    size: int | None = None,
    fit_short: bool = True,
    interpolation: Interpolation | int = "bilinear",
    *,
    short: int | None = None,
    long: int | None = None,
    backend: Backend = "pillow",
) -> Image:
    """The image resized with its aspect ratio to a short side of `short` or a long side of `long`, the smaller result.

    img: (C, H, W), any real dtype
    short, long: pixels; Faster R-CNN's sizes are short=600, long=1000
    size: the short side, or the long one if fit_short is false, as in ChainerCV
    interpolation, backend: as in `resize`
    Returns (C, H', W'), a new array, in the dtype of `resize`.
    Raises ShapeError if img is not (C, H, W), ValueRangeError if no side is given, or one twice.
    """
    img = as_img(img)
    if size is not None:
        if short is not None or long is not None:
            raise ValueRangeError(
                "scale takes size, or short and long, not both", got=f"size={size}, short={short}, long={long}"
            )
        short, long = (size, None) if fit_short else (None, size)
    return resize(img, scaled_size(img.shape[1:], short=short, long=long), interpolation=interpolation, backend=backend)
