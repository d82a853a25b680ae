"""Images made a network's input on the host: resized, normalized and framed, to the bits of Pillow and darknet."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PIL import Image

from cvzoo.backends.numpy.pillow_resize import pillow_resize
from cvzoo.backends.numpy.resize import resize_2d
from cvzoo.backends.photo_plan import PhotoPlan, frame_of
from cvzoo.backends.resampling import Resampling, axis_table

__all__ = ["prepare_images"]

Size = tuple[int, int]


def prepare_images(
    images: Sequence[np.ndarray], plans: Sequence[PhotoPlan], *, dtype: Any = np.float32, channels: int = 3
) -> np.ndarray:
    return prepare_on_host(images, plans, dtype, channels, resize_2d)


def prepare_on_host(
    images: Sequence[np.ndarray],
    plans: Sequence[PhotoPlan],
    dtype: Any,
    channels: int,
    resize_2d: Callable[..., np.ndarray],
) -> np.ndarray:
    """As `prepare_images`, with the `resize_2d` of a backend."""
    frame = frame_of(images, plans)
    x = np.zeros((len(images), *frame, channels), np.float32).transpose(0, 3, 1, 2)
    for image, plan, out in zip(images, plans, x[:, :3]):
        _prepare(image, plan, out, resize_2d)
    return x.astype(dtype, copy=False)


def _prepare(image: np.ndarray, plan: PhotoPlan, out: np.ndarray, resize_2d: Callable[..., np.ndarray]) -> None:
    """Carry out the plan, into out (3, H, W)."""
    image = image[::-1] if plan.bgr else image
    if plan.before:
        image = _normalized(image, plan, np.empty_like(image, np.float32))
    image = _resampled(image, plan.resized, plan.how, resize_2d)
    source, target = [slice(None)], [slice(None)]
    for new, start, side in zip(plan.resized, plan.offset, plan.frame):
        first, last = max(-start, 0), min(new, side - start)
        source.append(slice(first, last))
        target.append(slice(max(start, 0), max(start, 0) + last - first))
    image, inside = image[tuple(source)], out[tuple(target)]
    if inside.shape != out.shape and any(plan.fill):
        out[...] = np.float32(plan.fill)[:, None, None]
    # planes are computed as planes: side by side with other channels that takes three times as long
    x = inside if image.strides[0] < image.strides[2] else np.empty_like(image, np.float32)
    if plan.before:
        x[...] = image
    else:
        _normalized(image, plan, x)
    if plan.factor != 1:
        x *= np.float32(plan.factor)
    if plan.divisor != 1:
        x /= np.float32(plan.divisor)
    if plan.shift:
        x -= np.float32(plan.shift)
    if x is not inside:
        for plane, place in zip(x, inside):
            place[...] = plane


def _normalized(image: np.ndarray, plan: PhotoPlan, out: np.ndarray) -> np.ndarray:
    """out, (image - mean) / std in float32."""
    mean, std = (np.float32(three)[:, None, None] for three in (plan.mean, plan.std))
    if mean.any():
        np.subtract(image, mean, out=out, dtype=np.float32)
    else:
        out[...] = image
    if (std != 1).any():
        np.divide(out, std, out=out)
    return out


def _resampled(image: np.ndarray, size: Size, how: Resampling, resize_2d: Callable[..., np.ndarray]) -> np.ndarray:
    """The image (3, H, W) at the size (H, W): uint8 where Pillow resizes bytes, else float32."""
    if how in (Resampling.PILLOW, Resampling.PILLOW_CUBIC):
        pixels = image if image.dtype == np.uint8 else np.clip(np.rint(image), 0, 255).astype(np.uint8)
        if pixels.shape[1:] == size:
            return pixels
        cubic = how is Resampling.PILLOW_CUBIC
        return pillow_resize(pixels, size, Image.Resampling.BICUBIC if cubic else Image.Resampling.BILINEAR)
    image = image.astype(np.float32, copy=False)
    if image.shape[1:] == size:
        return image
    if how is Resampling.PILLOW_FLOATS:
        return pillow_resize(image, size, Image.Resampling.BILINEAR)
    if how is Resampling.CORNERS:
        return resize_corners(image, size)
    antialias = how is Resampling.ANTIALIASED
    return resize_2d(image[None], size, mode="bilinear", align_corners=False, antialias=antialias)[0]


def resize_corners(image: np.ndarray, size: Size) -> np.ndarray:
    """(C, *size) of an image (C, H, W), both float32: bilinear, corners on corners; columns first, then rows."""
    for axis, old, new in ((2, image.shape[2], size[1]), (1, image.shape[1], size[0])):
        first, weights = axis_table(old, new, Resampling.CORNERS)
        low, high = (part if axis == 2 else part[:, None] for part in weights.T)
        near, far = (np.take(image, places, axis) for places in (first, np.minimum(first + 1, old - 1)))
        image = near * low + far * high
    return image
