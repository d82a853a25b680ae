"""A PIL image or an array of the caller's as an array in the convention of cvzoo, unless it has too many pixels."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import PIL.Image

from cvzoo.errors.exceptions import DtypeError, ImageError, ShapeError
from cvzoo.typing.aliases import Array, Image, Shape

Background: TypeAlias = Sequence[float] | None  # (R, G, B) in [0, 255], behind transparent pixels

# ITU-R 601-2 luma, the weights of Pillow, libjpeg and OpenCV for grayscale
LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)

_WITH_ALPHA = ("RGBA", "LA", "PA", "RGBa", "La")
# 65535 / 255: white stays white
_SCALE_16_BIT = np.float32(257)


def check_pixel_count(size: tuple[int, int], *, name: str, max_pixels: int) -> None:
    """Raises ImageError if an image of this size (W, H) is empty or has more than max_pixels."""
    width, height = size
    if width < 1 or height < 1:
        raise ImageError(f"{name}: the image is empty", got=f"{height} x {width} pixels")
    if width * height > max_pixels:
        raise ImageError(
            f"{name}: too many pixels, perhaps a decompression bomb",
            expected=f"at most {max_pixels:,} pixels",
            got=f"{height} x {width} = {width * height:,} pixels",
            hint="max_pixels= if you trust the image and have the memory",
        )


def from_pil(pil: PIL.Image.Image, *, color: bool, background: Background, name: str) -> Image:
    """The pixels of a decoded PIL image: (3, H, W) float32 RGB in [0, 255], or (1, H, W) if color is false.

    background: (R, G, B) in [0, 255] that transparent pixels are blended with, or None to drop the alpha channel
    name: what an error calls the image
    Raises ImageError for a mode that cannot be converted and for values that are not finite.
    """
    if pil.mode.startswith("I") or pil.mode == "F":
        return set_color(_deep_gray(pil, name)[None], color)
    if pil.mode in _WITH_ALPHA or "transparency" in pil.info:
        rgba = planes(_convert(pil, "RGBA", name))
        img = rgba[:3] if background is None else blend(rgba[:3], rgba[3], background)
    elif pil.mode in ("1", "L"):
        img = planes(_convert(pil, "L", name))
    else:
        img = planes(_convert(pil, "RGB", name))
    return set_color(img, color)


def from_pil_8bit(pil: PIL.Image.Image, *, color: bool, background: Background, name: str) -> Image:
    """Like `from_pil`, but rounded to uint8. A color image is a view of an array (H, W, 3)."""
    plain = pil.mode in ("RGB", "YCbCr", "CMYK", "HSV", "LAB") and "transparency" not in pil.info
    if color and plain:
        return np.array(_convert(pil, "RGB", name)).transpose(2, 0, 1)
    return np.rint(from_pil(pil, color=color, background=background, name=name)).clip(0, 255).astype(np.uint8)


def from_pixels(pixels: Array, *, color: bool, dtype: npt.DTypeLike) -> Image:
    """Like `from_pil` or `from_pil_8bit`, for pixels (H, W, 3) or (H, W) uint8, which the result may be a view of."""
    if dtype == np.uint8 and color and pixels.ndim == 3:
        return pixels.transpose(2, 0, 1)
    img = set_color(planes(pixels), color)
    return img if dtype == np.float32 else np.rint(img).astype(np.uint8)


def planes(pil: PIL.Image.Image | Array) -> Image:
    """The bands of an 8-bit PIL image, or an array (H, W, C) or (H, W), as a new contiguous (C, H, W) float32 array."""
    pixels = np.asarray(pil)
    pixels = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
    return np.ascontiguousarray(pixels, dtype=np.float32)


def blend(rgb: Image, alpha: Array, background: Sequence[float]) -> Image:
    """rgb (3, H, W) over a plain background, with opacity alpha (H, W) in [0, 255]; an opaque image keeps its bits."""
    if alpha.min() == 255:
        return np.ascontiguousarray(rgb)
    opacity = alpha / np.float32(255)
    behind = np.asarray(background, dtype=np.float32).reshape(3, 1, 1)
    return rgb * opacity + behind * (1 - opacity)


def set_color(img: Image, color: bool) -> Image:
    """img as (3, H, W) or, if color is false, as gray (1, H, W)."""
    if color and len(img) == 1:
        return np.repeat(img, 3, axis=0)
    if not color and len(img) == 3:
        return np.tensordot(LUMA, img, axes=1)[None]
    return img


def _deep_gray(pil: PIL.Image.Image, name: str) -> Array:
    values = np.asarray(pil, dtype=np.float32)
    if not np.isfinite(values).all():
        raise ImageError(f"{name}: the image contains NaN or infinite values")
    # mode "F" has no defined range: its values are used as they are, like those of a float array
    if pil.mode == "F":
        return values
    if values.min() < 0 or values.max() > 65535:
        raise ImageError(
            f"{name}: 32-bit gray values beyond 16 bits have no defined white",
            expected="values in 0 .. 65535",
            got=f"{values.min():.0f} .. {values.max():.0f}",
            hint="scale the array to [0, 255] yourself and pass that",
        )
    return values / _SCALE_16_BIT


def _convert(pil: PIL.Image.Image, mode: str, name: str) -> PIL.Image.Image:
    if pil.mode == mode:
        return pil
    try:
        return pil.convert(mode)
    except (ValueError, OSError, KeyError) as error:
        raise ImageError(f"{name}: an image of mode {pil.mode} cannot be converted to {mode}", got=error) from error


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
