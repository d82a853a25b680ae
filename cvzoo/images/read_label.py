"""Reads a label map: an image file whose pixel values are class labels."""

import io
import os
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from PIL import Image

from cvzoo.errors.exceptions import DtypeError, ImageError
from cvzoo.images.decode import open_file, open_image_as_stored
from cvzoo.images.from_pil import check_pixel_count
from cvzoo.images.read_image import MAX_PIXELS
from cvzoo.typing.aliases import ClassMap, FilePath


def read_label(
    source: FilePath | BinaryIO | Image.Image, dtype: npt.DTypeLike = np.int32, *, max_pixels: int = MAX_PIXELS
) -> ClassMap:
    """The pixel values (H, W) of a label map: palette indices or gray values, never colors.

    source: a path, an open binary file or a PIL image; PNG, GIF or BMP with a palette, or gray of 1, 8, 16 or 32 bits
    EXIF orientation is not applied: label maps are written by programs, for the pixels as stored.
    Raises FileNotFoundError (or another OSError) if the path cannot be read; ImageError, naming the file, if it is no
    image, corrupt, too large, or has colors; DtypeError for a source of another type.
    """
    if isinstance(source, (str, os.PathLike)):
        with open_file(source) as file:
            pil = open_image_as_stored(file, name=os.fspath(source), max_pixels=max_pixels)
            return _pixel_values(pil, source, dtype)
    if isinstance(source, Image.Image):
        check_pixel_count(source.size, name="the PIL image", max_pixels=max_pixels)
        return _pixel_values(source, "the PIL image", dtype)
    if not isinstance(source, io.IOBase):
        raise DtypeError("a label map must be a path, an open binary file or a PIL image", got=type(source).__name__)
    pil = open_image_as_stored(source, name="the open file", max_pixels=max_pixels)
    return _pixel_values(pil, "the open file", dtype)


def _pixel_values(pil: Image.Image, name: FilePath, dtype: npt.DTypeLike) -> ClassMap:
    if pil.mode not in ("1", "L", "P", "I") and not pil.mode.startswith("I;16"):
        raise ImageError(
            f"{name}: a label map has one label per pixel, but this file has colors",
            expected="mode P, L, I or 1",
            got=f"mode {pil.mode}",
        )
    return np.array(pil, dtype=dtype)
