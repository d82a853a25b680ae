"""Opens and decodes an image file with Pillow: headers are checked first, and errors name the file."""

import io
import struct
import zlib
from typing import IO, BinaryIO, TypeAlias

import numpy as np
from PIL import Image, UnidentifiedImageError

from cvzoo.errors.exceptions import ImageError
from cvzoo.images.from_pil import check_pixel_count
from cvzoo.typing.aliases import Array, FilePath

Bytes: TypeAlias = bytes | bytearray | memoryview

# Only formats that Pillow decodes in this process, recognized by a signature at the beginning of the file. EPS (which
# starts Ghostscript), PDF, FITS, stubs and the like are never opened, whatever the file claims to be.
_COMMON_FORMATS = ("JPEG", "PNG", "BMP", "GIF", "PPM")
_OTHER_FORMATS = ("WEBP", "TIFF", "MPO", "JPEG2000", "AVIF")

# What Pillow's plugins are known to raise for corrupt files, beyond OSError
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

# EXIF orientation -> the transpose that makes the stored pixels upright
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


def open_image(file: IO[bytes], *, name: str, max_pixels: int) -> Image.Image:
    """A PIL image of the file, its pixels decoded (the first frame), with its EXIF orientation applied.

    file: a binary file object
    name: what an error calls the file
    max_pixels: the largest H * W that is decoded
    Raises ImageError for a file of an unknown format, with more pixels than the limit (by its header, before any pixel
    is decoded), truncated or corrupt; the message begins with the name.
    """
    return upright(open_image_as_stored(file, name=name, max_pixels=max_pixels))


def open_image_as_stored(file: IO[bytes], *, name: str, max_pixels: int) -> Image.Image:
    """Like `open_image`, but without applying the EXIF orientation."""
    pil = identify(file, name)
    try:
        check_pixel_count(pil.size, name=name, max_pixels=max_pixels)
        return load(pil, name=name)
    except BaseException:
        pil.close()
        raise


def open_file(path: FilePath) -> BinaryIO:
    """The file at the path, opened for reading bytes. Raises ImageError for an invalid path, OSError."""
    try:
        return open(path, "rb")
    except ValueError as error:  # a null byte in the name
        raise ImageError(f"{str(path)!r}: not a valid file name") from error


def open_bytes(data: Bytes, *, name: str, max_pixels: int) -> Image.Image:
    """Like `open_image`, for the bytes of a file."""
    return open_image(io.BytesIO(data), name=name, max_pixels=max_pixels)


def load(pil: Image.Image, *, name: str) -> Image.Image:
    """The same PIL image, its pixels decoded. Raises ImageError if they are truncated or corrupt."""
    try:
        pil.load()
    except _DECODING_ERRORS as error:
        raise ImageError(f"{name}: the image is truncated or corrupt", got=_first_line(error)) from error
    return pil


def upright(pil: Image.Image) -> Image.Image:
    """The PIL image with its EXIF orientation applied; a corrupt EXIF block is ignored."""
    orientation = _orientation(pil)
    return pil if orientation is None else pil.transpose(_UPRIGHT[orientation])


def upright_pixels(pixels: Array, pil: Image.Image) -> Array:
    """Like `upright`, for pixels (H, W) or (H, W, 3) uint8 of another decoder. pil: the file, its header read"""
    orientation = _orientation(pil)
    if orientation is None:
        return pixels
    return np.array(Image.fromarray(pixels).transpose(_UPRIGHT[orientation]))


def is_turned(pil: Image.Image) -> bool:
    """Whether `upright` swaps height and width."""
    orientation = _orientation(pil)
    return orientation is not None and orientation >= 5


def _orientation(pil: Image.Image) -> int | None:
    try:
        orientation = pil.getexif().get(_EXIF_ORIENTATION)
    except _DECODING_ERRORS:
        # corrupt metadata does not make the pixels unusable
        return None
    return orientation if isinstance(orientation, int) and orientation in _UPRIGHT else None


def identify(file: IO[bytes], name: str) -> Image.Image:
    """A PIL image of which only the header was read. Raises ImageError if its format is unknown or it is corrupt."""
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
            f"{name}: not an image file of a supported format",
            expected=", ".join(_COMMON_FORMATS + _OTHER_FORMATS),
            hint="convert it to PNG or JPEG",
        ) from error
    except _DECODING_ERRORS as error:
        raise ImageError(f"{name}: the header is truncated or corrupt", got=_first_line(error)) from error


def _first_line(error: BaseException) -> str:
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
