"""Test images from a fixed seed, and the kinds of sources that `predict` accepts."""

import io
from collections.abc import Sequence

import numpy as np
from PIL import Image

from cvzoo.images.read_image import ImageSource

SIZES = ((60, 80), (97, 61), (32, 100), (47, 33))
ODD_SIZES = ((1, 1), (1, 90), (90, 1), (2, 3))


def seeded_images(sizes: Sequence[tuple[int, int]] = SIZES) -> list[np.ndarray]:
    """One (3, H, W) float32 image per size, integers in [0, 255]: a rectangle of one colour on noise."""
    rng = np.random.default_rng(7)
    images = []
    for height, width in sizes:
        img = rng.integers(0, 60, (3, height, width)).astype(np.float32)
        y, x = height // 4, width // 3
        img[:, y : 3 * y, x : 2 * x] += rng.integers(60, 190, (3, 1, 1))
        images.append(img)
    return images


def encoded(img: np.ndarray | Image.Image, exif: Image.Exif | None = None) -> bytes:
    """The image as the bytes of a PNG file."""
    buffer = io.BytesIO()
    pil = img if isinstance(img, Image.Image) else Image.fromarray(img.astype(np.uint8).transpose(1, 2, 0))
    pil.save(buffer, "PNG", exif=exif or Image.Exif())
    return buffer.getvalue()


def same_image_sources(img: np.ndarray) -> dict[str, ImageSource]:
    """Equivalents of the (3, H, W) float32 image of integers that `predict` must accept, by description."""
    data = encoded(img)
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation: rotate by 270 degrees for display
    rgba = Image.open(io.BytesIO(data)).convert("RGBA")
    return {
        "a uint8 array": img.astype(np.uint8),
        "a float64 array": img.astype(np.float64),
        "an array that is not contiguous": np.ascontiguousarray(img.transpose(1, 2, 0)).transpose(2, 0, 1),
        "the bytes of a file": data,
        "an open file": io.BytesIO(data),
        "a PIL image": Image.open(io.BytesIO(data)),
        "a PIL image with transparency": rgba,
        "a file with an EXIF orientation": encoded(np.rot90(img, axes=(1, 2)), exif=exif),
    }


def same_grey_sources(img: np.ndarray) -> dict[str, ImageSource]:
    """Equivalents of the (3, H, W) image whose channels are all the first of `img`, by description."""
    flat = img[0].astype(np.uint8)
    return {
        "a (1, H, W) array": img[:1],
        "an (H, W) array": img[0],
        "a uint16 array": flat.astype(np.uint16) * 257,
        "a grey PIL image": Image.fromarray(flat),
        "a 16-bit PNG file": encoded(Image.fromarray(flat.astype(np.uint16) * 257)),
    }
