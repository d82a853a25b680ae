"""A PIL image of any mode as an array in the convention of cvzoo."""

import numpy as np

from cvzoo.errors.exceptions import ImageError

# ITU-R 601-2, the weights that Pillow, libjpeg and OpenCV use for grey
LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)

_WITH_ALPHA = ("RGBA", "LA", "PA", "RGBa", "La")
# 65535 / 255: white stays white
_SCALE_16_BIT = np.float32(257)


def from_pil(pil, *, color, background, name):
    """The pixels of a decoded PIL image: (3, H, W) float32 RGB in [0, 255], or (1, H, W) when color is false.

    background: (R, G, B) in [0, 255] that shines through where the photo is transparent, or None to drop transparency
    name: what an error calls the photo
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


def from_pil_8bit(pil, *, color, background, name):
    """As `from_pil`, but uint8: rounded where the values are not whole. A colour photo lies (H, W, 3) in memory."""
    plain = pil.mode in ("RGB", "YCbCr", "CMYK", "HSV", "LAB") and "transparency" not in pil.info
    if color and plain:
        return np.array(_convert(pil, "RGB", name)).transpose(2, 0, 1)
    return np.rint(from_pil(pil, color=color, background=background, name=name)).clip(0, 255).astype(np.uint8)


def from_pixels(pixels, *, color, dtype):
    """As `from_pil` or `from_pil_8bit`, of decoded pixels (H, W, 3) or (H, W) uint8, which may be taken as they are."""
    if dtype == np.uint8 and color and pixels.ndim == 3:
        return pixels.transpose(2, 0, 1)
    img = set_color(planes(pixels), color)
    return img if dtype == np.float32 else np.rint(img).astype(np.uint8)


def planes(pil):
    """The bands of an 8-bit PIL image, or an array (H, W, C) or (H, W), as a new contiguous (C, H, W) float32 array."""
    pixels = np.asarray(pil)
    pixels = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
    return np.ascontiguousarray(pixels, dtype=np.float32)


def blend(rgb, alpha, background):
    """rgb (3, H, W) over a plain background, with opacity alpha (H, W) in [0, 255]; an opaque photo keeps its bits."""
    if alpha.min() == 255:
        return np.ascontiguousarray(rgb)
    opacity = alpha / np.float32(255)
    behind = np.asarray(background, dtype=np.float32).reshape(3, 1, 1)
    return rgb * opacity + behind * (1 - opacity)


def set_color(img, color):
    """img as (3, H, W) or, when color is false, as grey (1, H, W)."""
    if color and len(img) == 1:
        return np.repeat(img, 3, axis=0)
    if not color and len(img) == 3:
        return np.tensordot(LUMA, img, axes=1)[None]
    return img


def _deep_gray(pil, name):
    values = np.asarray(pil, dtype=np.float32)
    if not np.isfinite(values).all():
        raise ImageError(f"{name}: the photo holds NaN or infinite values")
    # "F" carries no range of its own: it is taken as it is, like an array of floats
    if pil.mode == "F":
        return values
    if values.min() < 0 or values.max() > 65535:
        raise ImageError(
            f"{name}: 32-bit grey values beyond 16 bits have no known white",
            expected="values in 0 .. 65535",
            got=f"{values.min():.0f} .. {values.max():.0f}",
            hint="scale the array to [0, 255] yourself and pass that",
        )
    return values / _SCALE_16_BIT


def _convert(pil, mode, name):
    if pil.mode == mode:
        return pil
    try:
        return pil.convert(mode)
    except (ValueError, OSError, KeyError) as error:
        raise ImageError(f"{name}: cannot turn a photo of mode {pil.mode} into {mode}", got=error) from error
