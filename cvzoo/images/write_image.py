"""Encodes images and writes them atomically."""

import io
import os
import pathlib
from typing import BinaryIO, overload

import numpy as np
from PIL import Image

from cvzoo.errors.exceptions import ImageError, ValueRangeError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.images.from_pil import from_array
from cvzoo.typing.aliases import Array, FilePath

_FORMAT_OF_ENDING = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".webp": "WEBP",
    ".bmp": "BMP",
    ".ppm": "PPM",
    ".pgm": "PPM",
}


def to_pil(img: Array) -> Image.Image:
    """The image as an 8-bit PIL image, RGB or L: values rounded to the nearest integer and clipped to [0, 255].

    img: (3, H, W) or (1, H, W) float32 in [0, 255], or any array that `read_image` takes
    Raises as `read_image` does for arrays.
    """
    gray = img.ndim == 2 or img.shape[0] == 1
    img = from_array(img, color=not gray)
    pixels = np.empty((*img.shape[1:], len(img)), dtype=np.uint8)
    # channel by channel, in place: fewer temporary arrays for a large image
    for i, plane in enumerate(img):
        pixels[:, :, i] = np.rint(plane, out=plane).clip(0, 255, out=plane)
    return Image.fromarray(pixels[:, :, 0] if gray else pixels)


def encode_png(img: Array) -> bytes:
    """The bytes of the image as a PNG file. img: as for `to_pil`."""
    buffer = io.BytesIO()
    # level 1 is about five times as fast as the default for natural images, and a tenth larger
    to_pil(img).save(buffer, format="PNG", compress_level=1)
    return buffer.getvalue()


def encode_jpeg(img: Array, *, quality: int = 85) -> bytes:
    """The bytes of the image as a JPEG file, a tenth of a PNG's. img: as for `to_pil`; quality: 1 to 100."""
    buffer = io.BytesIO()
    to_pil(img).save(buffer, format="JPEG", quality=quality)
    return buffer.getvalue()


def image_format(path: FilePath) -> str:
    """Pillow's name for the format of the path's extension. Raises ImageError for an unsupported extension."""
    suffix = pathlib.Path(path).suffix
    if suffix.lower() not in _FORMAT_OF_ENDING:
        raise ImageError(f"{path}: unsupported image format", expected=" ".join(_FORMAT_OF_ENDING), got=suffix)
    return _FORMAT_OF_ENDING[suffix.lower()]


@overload
def write_image(
    img: Array, file: FilePath, format: str | None = None, *, quality: int = 95
) -> pathlib.Path: ...  # pragma: no cover
@overload
def write_image(
    img: Array, file: BinaryIO, format: str | None = None, *, quality: int = 95
) -> None: ...  # pragma: no cover
@overload
def write_image(img: Array, *, path: FilePath, quality: int = 95) -> pathlib.Path: ...  # pragma: no cover
def write_image(
    img: Array,
    file: FilePath | BinaryIO | None = None,
    format: str | None = None,
    *,
    quality: int = 95,
    path: FilePath | None = None,
) -> pathlib.Path | None:
    """Writes an image file atomically (other processes see the old file or the new one) and returns its path.

    img: (3, H, W) or (1, H, W) float32 in [0, 255], as for `to_pil`
    file: a path, whose folder must exist; or a file open for writing, which is written to at its position; the result
        is then None
    format: "png", "jpeg", "webp", "bmp" or "ppm"; None: by the path's extension, .png .jpg .jpeg .webp .bmp .ppm .pgm
    quality: 1 to 100, for JPEG and WebP
    path: older name of file
    Raises ImageError for another format or extension, or for an open file without a format; ValueRangeError without a
    file or with both names of it; OSError if the folder cannot be written.
    """
    target = path if file is None else file
    if target is None or (file is not None and path is not None):
        raise ValueRangeError("write_image: file and path are two names of one argument", expected="one of them")
    if not isinstance(target, str | os.PathLike):
        to_pil(img).save(target, format=_named_format(format), quality=quality)
        return None
    target = pathlib.Path(target)
    kind = image_format(target) if format is None else _named_format(format)
    pil = to_pil(img)
    with atomic_write(target) as written:
        pil.save(written, format=kind, quality=quality)
    return target


def _named_format(format: str | None) -> str:
    """Pillow's name of a format. Raises ImageError for one that is not written."""
    kind = "" if format is None else _FORMAT_OF_ENDING.get(f".{format.lower()}", "")
    if not kind:
        known = " ".join(sorted({each.lower() for each in _FORMAT_OF_ENDING.values()}))
        raise ImageError(
            "write_image: no such format, and an open file needs a format", expected=known, got=repr(format)
        )
    return kind
