"""Write a photo: whole or not at all."""

import io
import os
import pathlib
import secrets

import numpy as np
from PIL import Image

from cvzoo.errors.exceptions import ImageError
from cvzoo.images.from_array import from_array

_FORMAT_OF_ENDING = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP", ".bmp": "BMP"}


def to_pil(img):
    """The photo as an 8-bit PIL image, RGB or L: values rounded to the nearest integer and cut to [0, 255].

    img: (3, H, W) or (1, H, W) float32 in [0, 255], or any array that `read_image` takes
    Raises as `read_image` does for arrays.
    """
    gray = img.ndim == 2 or img.shape[0] == 1
    img = from_array(img, color=not gray)
    pixels = np.empty((*img.shape[1:], len(img)), dtype=np.uint8)
    # plane by plane, in place: a large photo stays in fewer temporaries
    for i, plane in enumerate(img):
        pixels[:, :, i] = np.rint(plane, out=plane).clip(0, 255, out=plane)
    return Image.fromarray(pixels[:, :, 0] if gray else pixels)


def encode_png(img):
    """The bytes of a PNG file of the photo. img: as for `to_pil`."""
    buffer = io.BytesIO()
    # level 1 writes a photo some five times as fast as the default, for a tenth more bytes
    to_pil(img).save(buffer, format="PNG", compress_level=1)
    return buffer.getvalue()


def encode_jpeg(img, *, quality=85):
    """The bytes of a JPEG file of the photo, a tenth of a PNG's. img: as for `to_pil`; quality: 1 to 100."""
    buffer = io.BytesIO()
    to_pil(img).save(buffer, format="JPEG", quality=quality)
    return buffer.getvalue()


def image_format(path: str | os.PathLike) -> str:
    """Pillow's name of the format that the path's ending says. Raises ImageError for an ending that is not written."""
    suffix = pathlib.Path(path).suffix
    if suffix.lower() not in _FORMAT_OF_ENDING:
        raise ImageError(f"{path}: no such kind of photo", expected=" ".join(_FORMAT_OF_ENDING), got=suffix)
    return _FORMAT_OF_ENDING[suffix.lower()]


def write_image(img, path, *, quality=95):
    """The path, once the photo lies there; other processes see the old file or the new one, never a part.

    img: (3, H, W) or (1, H, W) float32 in [0, 255], as for `to_pil`
    path: its ending says the format: .png .jpg .jpeg .webp .bmp; the folder must exist
    quality: 1 to 100, of JPEG and WebP
    Raises ImageError for another ending, OSError if the folder cannot be written.
    """
    path = pathlib.Path(path)
    kind = image_format(path)
    pil = to_pil(img)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    # not tempfile.mkstemp, whose files nobody else may read: here the user's umask decides
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        error.filename = str(path)  # what the caller asked for, not the name it has meanwhile
        raise
    try:
        with os.fdopen(descriptor, "wb") as file:
            pil.save(file, format=kind, quality=quality)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        # Ctrl-C too: no half-written file stays behind
        os.unlink(temporary)
        raise
    return path
