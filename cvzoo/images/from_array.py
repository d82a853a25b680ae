"""An array of the caller's as an array in the convention of cvzoo."""

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ImageError, ShapeError
from cvzoo.images.from_pil import set_color


def from_array(array, *, color, name="the array"):
    """A new (3, H, W) float32 array, RGB in [0, 255], or (1, H, W) when color is false.

    array: (3, H, W), (1, H, W) or (H, W); uint8 and floats hold [0, 255] and are taken as they are, uint16 holds
        [0, 65535] and is scaled, bool is black and white
    Raises ShapeError for another layout, DtypeError for another dtype, ImageError if it is empty, NaN or infinite.
    """
    img = array[None] if array.ndim == 2 else array
    if img.ndim != 3 or img.shape[0] not in (1, 3):
        raise ShapeError(
            f"{name} is not a photo in the layout of cvzoo",
            expected="(3, H, W) RGB, (1, H, W) or (H, W) grey",
            got=array.shape,
            hint=_layout_hint(array.shape),
        )
    if img.size == 0:
        raise ImageError(f"{name}: the photo is empty", got=array.shape)
    if img.dtype.kind not in "fuib":
        raise DtypeError(f"{name} must hold real numbers", expected="uint8, uint16 or float32", got=img.dtype)
    if img.dtype.kind == "f" and not np.isfinite(img).all():
        raise ImageError(f"{name}: the photo holds NaN or infinite values")
    return set_color(_scaled(img), color)


def _scaled(img):
    # order="C" and not the caller's strides; astype copies even float32, so the caller's array is never shared
    scaled = img.astype(np.float32, order="C")
    if img.dtype == np.uint16:
        scaled /= np.float32(257)
    elif img.dtype == np.bool_:
        scaled *= np.float32(255)
    return scaled


def _layout_hint(shape):
    if len(shape) == 3 and shape[2] in (1, 3):
        return "img.transpose(2, 0, 1) for an array of (H, W, C)"
    if len(shape) == 3 and shape[2] == 4:
        return "img[:, :, :3].transpose(2, 0, 1) for an array of (H, W, RGBA)"
    if len(shape) == 3 and shape[0] == 4:
        return "img[:3] for an array of RGBA"
    if len(shape) == 4:
        return "one photo at a time: a batch (B, 3, H, W) is a list of photos, list(imgs)"
    return None
