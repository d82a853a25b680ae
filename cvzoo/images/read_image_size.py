"""Reads the size of an image from its header, without decoding it."""

import os

from cvzoo.images.decode import identify, is_turned, open_file
from cvzoo.typing.aliases import FilePath, Size


def read_image_size(path: FilePath) -> Size:
    """(H, W) in pixels of the image as `read_image` returns it, EXIF orientation applied; only the header is read.

    Raises FileNotFoundError (or another OSError), or ImageError, naming the file.
    """
    with open_file(path) as file, identify(file, os.fspath(path)) as pil:
        width, height = pil.size
        return (width, height) if is_turned(pil) else (height, width)
