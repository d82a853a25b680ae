"""Converts a user's array to cvzoo's image layout: (3, H, W) float32, RGB in [0, 255]."""

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ImageError, ShapeError
from cvzoo.images.from_pil import set_color
from cvzoo.typing.aliases import Array, Image, Shape


def from_array(array: Array, *, color: bool, name: str = "the array") -> Image:
    """A new (3, H, W) float32 array, RGB in [0, 255], or (1, H, W) if color is false.

    array: (3, H, W), (1, H, W) or (H, W); uint8 and floats in [0, 255] are used as they are, uint16 in [0, 65535] is
        scaled to [0, 255], bool is black and white
    Raises ShapeError for another layout, DtypeError for another dtype, ImageError if it is empty, NaN or infinite.
    """
    img = array[None] if array.ndim == 2 else array
    if img.ndim != 3 or img.shape[0] not in (1, 3):
        raise ShapeError(
            f"{name} does not have the shape of an image",
            expected="(3, H, W) RGB, (1, H, W) or (H, W) gray",
            got=array.shape,
            hint=_layout_hint(array.shape),
        )
    if img.size == 0:
        raise ImageError(f"{name}: the image is empty", got=array.shape)
    if img.dtype.kind not in "fuib":
        raise DtypeError(f"{name} must hold real numbers", expected="uint8, uint16 or float32", got=img.dtype)
    if img.dtype.kind == "f" and not np.isfinite(img).all():
        raise ImageError(f"{name}: the image contains NaN or infinite values")
    return set_color(_scaled(img), color)


def _scaled(img: Array) -> Image:
    # order="C" instead of the caller's strides; astype copies even float32, so the caller's array is never shared
    scaled = img.astype(np.float32, order="C")
    if img.dtype == np.uint16:
        scaled /= np.float32(257)
    elif img.dtype == np.bool_:
        scaled *= np.float32(255)
    return scaled


def _layout_hint(shape: Shape) -> str | None:
    if len(shape) == 3 and shape[2] in (1, 3):
        return "img.transpose(2, 0, 1) for an array of (H, W, C)"
    if len(shape) == 3 and shape[2] == 4:
        return "img[:, :, :3].transpose(2, 0, 1) for an array of (H, W, RGBA)"
    if len(shape) == 3 and shape[0] == 4:
        return "img[:3] for an array of RGBA"
    if len(shape) == 4:
        return "one image at a time: list(imgs) turns a batch (B, 3, H, W) into a list of images"
    return None
