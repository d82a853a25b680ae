"""Opening and decoding an image file with Pillow: headers are judged first, and whatever breaks is named."""

import io
import os
import struct
import zlib
from typing import BinaryIO

import numpy as np
from PIL import Image, UnidentifiedImageError

from cvzoo.errors.exceptions import ImageError

# Only formats that Pillow decodes in this process, from a signature at the head of the file. EPS (which starts
# Ghostscript), PDF, FITS, stubs and the like stay shut, whatever the file claims to be.
_COMMON_FORMATS = ("JPEG", "PNG", "BMP", "GIF", "PPM")
_OTHER_FORMATS = ("WEBP", "TIFF", "MPO", "JPEG2000", "AVIF")

# What Pillow's plugins are known to raise for broken files, beyond OSError
_DECODING_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    IndexError,
    KeyError,
    AttributeError,
    EOFError,
    OverflowError,
    ZeroDivisionError,
    RuntimeError,
    AssertionError,
    struct.error,
    zlib.error,
    # where the program turns warnings into errors, Pillow's own about broken headers and huge sizes
    Warning,
)

# EXIF orientation -> how to turn the stored pixels upright
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_EXIF_ORIENTATION = 0x0112


def open_image(file, *, name, max_pixels):
    """A PIL image of the file, its pixels decoded (the first frame) and turned upright as its EXIF says.

    file: a binary file object
    name: what an error calls the file
    max_pixels: the largest H * W that is decoded
    Raises ImageError for a file of an unknown kind, with more pixels than the limit (judged by its header, before any
    pixel is decoded), truncated or corrupt; the message begins with the name.
    """
    return upright(open_image_as_stored(file, name=name, max_pixels=max_pixels))


def open_image_as_stored(file, *, name, max_pixels):
    """As `open_image`, but not turned upright."""
    pil = identify(file, name)
    try:
        check_pixel_count(pil.size, name=name, max_pixels=max_pixels)
        return load(pil, name=name)
    except BaseException:
        pil.close()
        raise


def open_file(path: str | os.PathLike) -> BinaryIO:
    """The file of a path, open to be read as bytes. Raises ImageError for a path that no file can have, OSError."""
    try:
        return open(path, "rb")
    except ValueError as error:  # a zero byte in the name
        raise ImageError(f"{str(path)!r}: no file can have this name") from error


def open_bytes(data, *, name, max_pixels):
    """As `open_image`, of the bytes of a file."""
    return open_image(io.BytesIO(data), name=name, max_pixels=max_pixels)


def check_pixel_count(size, *, name, max_pixels):
    """Nothing, or ImageError if a photo of this size (W, H) is empty or has more than max_pixels."""
    width, height = size
    if width < 1 or height < 1:
        raise ImageError(f"{name}: the photo is empty", got=f"{height} x {width} pixels")
    if width * height > max_pixels:
        raise ImageError(
            f"{name}: too many pixels, perhaps a decompression bomb",
            expected=f"at most {max_pixels:,} pixels",
            got=f"{height} x {width} = {width * height:,} pixels",
            hint="max_pixels= if you trust the photo and have the memory",
        )


def load(pil, *, name):
    """The same PIL image with its pixels decoded. Raises ImageError if they cannot be."""
    try:
        pil.load()
    except _DECODING_ERRORS as error:
        raise ImageError(f"{name}: the photo is truncated or corrupt", got=_first_line(error)) from error
    return pil


def upright(pil):
    """The PIL image turned as its EXIF orientation says; a broken EXIF block counts as none."""
    orientation = _orientation(pil)
    return pil if orientation is None else pil.transpose(_UPRIGHT[orientation])


def upright_pixels(pixels, pil):
    """As `upright`, of pixels (H, W) or (H, W, 3) uint8 that were decoded elsewhere. pil: the file, its header read"""
    orientation = _orientation(pil)
    if orientation is None:
        return pixels
    return np.array(Image.fromarray(pixels).transpose(_UPRIGHT[orientation]))


def is_turned(pil):
    """Whether `upright` makes a wide photo tall."""
    orientation = _orientation(pil)
    return orientation is not None and orientation >= 5


def _orientation(pil):
    try:
        orientation = pil.getexif().get(_EXIF_ORIENTATION)
    except _DECODING_ERRORS:
        # the pixels are sound, and what else the camera wrote is not our concern
        return None
    return orientation if isinstance(orientation, int) and orientation in _UPRIGHT else None


def identify(file, name):
    """A PIL image whose header alone was read. Raises ImageError, naming the file, if that cannot be done."""
    try:
        try:
            return Image.open(file, formats=_COMMON_FORMATS)
        except UnidentifiedImageError:
            Image.init()
            file.seek(0)
            return Image.open(file, formats=[each for each in _OTHER_FORMATS if each in Image.OPEN])
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ImageError(f"{name}: too many pixels, perhaps a decompression bomb", got=_first_line(error)) from error
    except UnidentifiedImageError as error:
        raise ImageError(
            f"{name}: not a photo of a known kind",
            expected=", ".join(_COMMON_FORMATS + _OTHER_FORMATS),
            hint="convert it to PNG or JPEG",
        ) from error
    except _DECODING_ERRORS as error:
        raise ImageError(f"{name}: the header is truncated or corrupt", got=_first_line(error)) from error


def _first_line(error):
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
