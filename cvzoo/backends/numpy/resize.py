"""Resizing, and preprocessing of images."""

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image

from cvzoo.backends.abstract import Pair
from cvzoo.backends.float_types import in_float32
from cvzoo.backends.image_plan import ImagePlan, Resampling, axis_table, frame_of
from cvzoo.backends.in_threads import in_threads
from cvzoo.errors.exceptions import ValueRangeError

__all__ = ["prepare_images", "resize_2d", "resize_2d_grad"]


_STRIP = 1 << 17  # elements of the result that a thread computes at a time


@functools.lru_cache(256)
def axis_taps(n_in: int, n_out: int, mode: str, align_corners: bool, antialias: bool) -> tuple[np.ndarray, np.ndarray]:
    """The input pixels of each output pixel of an axis and their weights: (n_out, T) int64 and (n_out, T) float64."""
    if mode == "nearest":
        return (np.arange(n_out) * n_in // n_out)[:, None], np.ones((n_out, 1))
    if mode != "bilinear":
        raise ValueRangeError(f"resize: there is no mode {mode!r}", expected="nearest or bilinear")
    i = np.arange(n_out)
    if align_corners:
        scale = (n_in - 1) / (n_out - 1) if n_out > 1 else 0.0
        centre = i * scale
    else:
        scale = n_in / n_out
        centre = (i + 0.5) * scale - 0.5
    if not (antialias and scale > 1):
        centre = np.clip(centre, 0, n_in - 1)
        low = np.minimum(np.floor(centre).astype(np.int64), n_in - 1)
        part = centre - low
        return np.stack([low, np.minimum(low + 1, n_in - 1)], 1), np.stack([1 - part, part], 1)
    first = np.floor(centre - scale).astype(np.int64)
    taps = first[:, None] + np.arange(int(np.ceil(2 * scale)) + 2)
    weights = np.maximum(1 - np.abs(taps - centre[:, None]) / scale, 0) * ((taps >= 0) & (taps < n_in))
    return np.clip(taps, 0, n_in - 1), weights / weights.sum(1, keepdims=True)


def axis_matrix(n_in: int, n_out: int, mode: str, align_corners: bool, antialias: bool, dtype: np.dtype) -> np.ndarray:
    """(n_out, n_in): the weights of axis_taps as a matrix."""
    index, weights = axis_taps(n_in, n_out, mode, align_corners, antialias)
    matrix = np.zeros((n_out, n_in))
    np.add.at(matrix, (np.arange(n_out)[:, None], index), weights)
    return matrix.astype(dtype)


def _along(x: np.ndarray, axis: int, index: np.ndarray, weights: np.ndarray) -> np.ndarray:
    shape = [1] * x.ndim
    shape[axis] = -1
    if index.shape[1] == 1:
        return x.take(index[:, 0], axis)
    weights = weights.astype(x.dtype)
    y = x.take(index[:, 0], axis) * weights[:, 0].reshape(shape)
    for t in range(1, index.shape[1]):
        y += x.take(index[:, t], axis) * weights[:, t].reshape(shape)
    return y


@in_float32
def resize_2d(x: np.ndarray, size: Pair, *, mode: str, align_corners: bool, antialias: bool) -> np.ndarray:
    """See `AbstractBackend.resize_2d`; "nearest" has no use for the other two settings."""
    x = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    if x.dtype.kind != "f" and mode != "nearest":
        x = x.astype(np.float32)
    axes = [
        None if n_in == n_out else axis_taps(n_in, n_out, mode, align_corners, antialias)
        for n_in, n_out in zip(x.shape[1:3], size)
    ]
    y = np.empty((len(x), *size, x.shape[3]), x.dtype)

    def work(part: tuple[int, slice]) -> None:
        i, rows = part
        strip = x[i : i + 1, rows] if axes[0] is None else _along(x[i : i + 1], 1, *[each[rows] for each in axes[0]])
        y[i, rows] = (strip if axes[1] is None else _along(strip, 2, *axes[1]))[0]

    # strips whose intermediate result stays in a cache
    step = max(_STRIP // max(math.prod(y.shape[2:]), 1), 1)
    in_threads([(i, slice(k, k + step)) for i in range(len(x)) for k in range(0, size[0], step)], work)
    return y.transpose(0, 3, 1, 2)


@in_float32
def resize_2d_grad(gy: np.ndarray, size: Pair, *, mode: str, align_corners: bool, antialias: bool) -> np.ndarray:
    """See `AbstractBackend.resize_2d_grad`."""
    b, c, oh, ow = gy.shape
    h, w = size
    rows = axis_matrix(h, oh, mode, align_corners, antialias, gy.dtype)
    columns = axis_matrix(w, ow, mode, align_corners, antialias, gy.dtype)
    gx = np.ascontiguousarray(gy.transpose(0, 2, 3, 1))  # (B, OH, OW, C)
    gx = (rows.T @ gx.reshape(b, oh, ow * c)).reshape(b * h, ow, c)
    return (columns.T @ gx).reshape(b, h, w, c).transpose(0, 3, 1, 2)


def pillow_resize(img: np.ndarray, size: tuple[int, int], resampling: Image.Resampling) -> np.ndarray:
    """(C, *size) of an image (C, H, W) uint8 or float32, in its dtype.

    Three channels of uint8 are interleaved in memory, as by decoders and Pillow; all else is in C order.
    """
    height, width = size
    if img.dtype == np.uint8 and len(img) == 3:
        pil = Image.fromarray(np.ascontiguousarray(img.transpose(1, 2, 0)))
        return np.array(pil.resize((width, height), resampling)).transpose(2, 0, 1)
    out = np.empty((len(img), height, width), dtype=img.dtype)
    for plane, result in zip(img, out):
        # bands are resized one by one in Pillow too; mode "F" has float weights and float sums
        result[...] = Image.fromarray(np.ascontiguousarray(plane)).resize((width, height), resampling)
    return out


Size = tuple[int, int]


def prepare_images(
    images: Sequence[np.ndarray], plans: Sequence[ImagePlan], *, dtype: npt.DTypeLike = np.float32, channels: int = 3
) -> np.ndarray:
    return prepare_on_host(images, plans, dtype, channels, functools.partial(prepare_image, resize_2d=resize_2d))


def prepare_on_host(
    images: Sequence[np.ndarray],
    plans: Sequence[ImagePlan],
    dtype: npt.DTypeLike,
    channels: int,
    prepare: Callable[[np.ndarray, ImagePlan, np.ndarray], None],
) -> np.ndarray:
    """As `prepare_images`; prepare: as `prepare_image`."""
    frame = frame_of(images, plans)
    x = np.zeros((len(images), *frame, channels), np.float32).transpose(0, 3, 1, 2)
    for image, plan, out in zip(images, plans, x[:, :3]):
        prepare(image[::-1] if plan.bgr else image, plan, inside_frame(plan, out))
    return x.astype(dtype, copy=False)


def inside_frame(plan: ImagePlan, frame: np.ndarray) -> np.ndarray:
    """The part of the frame (3, H, W) that the image covers; the rest is filled."""
    part = [slice(None)]
    for new, start, side in zip(plan.resized, plan.offset, plan.frame):
        part.append(slice(max(start, 0), max(start, 0) + min(new, side - start) - max(-start, 0)))
    inside = frame[tuple(part)]
    if inside.shape != frame.shape and any(plan.fill):
        frame[...] = np.array(plan.fill, np.float32)[:, None, None]
    return inside


def prepare_image(image: np.ndarray, plan: ImagePlan, inside: np.ndarray, resize_2d: Callable[..., np.ndarray]) -> None:
    """Resize and normalize an image, its channels in the network's order, into its part of the frame."""
    if plan.before:
        image = _normalized(image, plan, np.empty_like(image, np.float32))
    image = resampled(image, plan.resized, plan.how, resize_2d)
    top, left = (max(-start, 0) for start in plan.offset)
    image = image[:, top : top + inside.shape[1], left : left + inside.shape[2]]
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


def _normalized(image: np.ndarray, plan: ImagePlan, out: np.ndarray) -> np.ndarray:
    """out, (image - mean) / std in float32."""
    mean, std = (np.array(three, np.float32)[:, None, None] for three in (plan.mean, plan.std))
    x = out
    if _has_pixels_in_rows(image) and _has_pixels_in_rows(out):  # loops over rows: those over three channels are slow
        height, width = image.shape[1:]
        image, x = (each.transpose(1, 2, 0).reshape(height, 3 * width) for each in (image, out))
        mean, std = (np.tile(three.reshape(-1), width) for three in (mean, std))
    if mean.any():
        np.subtract(image, mean, out=x, dtype=np.float32)
    else:
        x[...] = image
    if (std != 1).any():
        np.divide(x, std, out=x)
    return out


def _has_pixels_in_rows(image: np.ndarray) -> bool:
    """Whether the three channels of a pixel are contiguous, and the pixels of a row, too."""
    return image.strides[0] == image.itemsize and image.strides[2] == len(image) * image.itemsize == 3 * image.itemsize


def resampled(image: np.ndarray, size: Size, how: Resampling, resize_2d: Callable[..., np.ndarray]) -> np.ndarray:
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
