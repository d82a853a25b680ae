"""The images of a result, for drawing and for notebooks."""

from collections.abc import Callable, Sequence

import numpy as np

from cvzoo.errors.exceptions import ImageError, ValueRangeError
from cvzoo.images.read_image import ImageSource, read_image

SHOWN = 20  # images in a notebook's cell, rows in a repr


def check_index(i: int, n_image: int) -> None:
    """Raises ValueRangeError if there is no image `i`, counted from the front or, negative, from the back."""
    if not -n_image <= i < n_image:
        raise ValueRangeError("there is no such image", expected=f"0 .. {n_image - 1}", got=i)


def image_of(sources: Sequence[ImageSource | None], i: int, img: ImageSource | None = None) -> np.ndarray:
    """Image `i`, (3, H, W) float32 RGB in [0, 255]: read from its source, or from `img`. Raises ImageError."""
    source = img if img is not None else sources[i] if len(sources) else None
    if source is None:
        raise ImageError(f"image {i} cannot be read again", hint="pass the image: img=...")
    return read_image(source)


def notebook_html(n_image: int, shown: Callable[[int], str]) -> str | None:
    """HTML of the first images; None, so that a notebook shows the repr, without images or if one cannot be read again.

    shown: from an image's index its HTML
    """
    try:
        parts = [shown(i) for i in range(min(n_image, SHOWN))]
    except (ImageError, OSError):
        return None
    if n_image > SHOWN:
        parts.append(f"<p>... and {n_image - SHOWN} more images</p>")
    return "\n".join(parts) or None


def notebook_png(n_image: int, shown: Callable[[int], bytes]) -> bytes | None:
    """A PNG of the first image, None as for `notebook_html`. shown: from an image's index the PNG"""
    try:
        return shown(0) if n_image else None
    except (ImageError, OSError):
        return None
