"""Read a label map: an image file whose pixels are class numbers."""

import io
import os

import numpy as np
from PIL import Image

from cvzoo.errors.exceptions import DtypeError, ImageError
from cvzoo.images.decode import check_pixel_count, open_file, open_image_as_stored
from cvzoo.images.read_image import MAX_PIXELS


def read_label(source, *, dtype=np.int32, max_pixels=MAX_PIXELS):
    """The numbers that stand in the pixels, (H, W): the palette's indices, or the grey values, never colours.

    source: a path, an open binary file or a PIL image; PNG, GIF or BMP with a palette, or grey of 1, 8, 16 or 32 bits
    EXIF orientation is not applied: label maps are made by programs, pixel by pixel.
    Raises FileNotFoundError (or another OSError) if the path cannot be read; ImageError, naming the file, if it is no
    image, broken, too large, or has colours; DtypeError for a source of another type.
    """
    if isinstance(source, (str, os.PathLike)):
        with open_file(source) as file:
            return _numbers(open_image_as_stored(file, name=os.fspath(source), max_pixels=max_pixels), source, dtype)
    if isinstance(source, Image.Image):
        check_pixel_count(source.size, name="the PIL image", max_pixels=max_pixels)
        return _numbers(source, "the PIL image", dtype)
    if not isinstance(source, io.IOBase):
        raise DtypeError("a label map is a path, an open binary file or a PIL image", got=type(source).__name__)
    pil = open_image_as_stored(source, name="the open file", max_pixels=max_pixels)
    return _numbers(pil, "the open file", dtype)


def _numbers(pil, name, dtype):
    if pil.mode not in ("1", "L", "P", "I") and not pil.mode.startswith("I;16"):
        raise ImageError(
            f"{name}: a label map has one number a pixel, this file has colours",
            expected="mode P, L, I or 1",
            got=f"mode {pil.mode}",
        )
    return np.array(pil, dtype=dtype)
