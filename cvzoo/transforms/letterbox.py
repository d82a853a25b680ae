"""Letterbox: resize an image to fit into a given size with the same aspect ratio, and pad it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.resize_align_corners import resize_align_corners
from cvzoo.typing.aliases import Array, ArrayLike, BBox, Image


class Frame(NamedTuple):
    """Position of an image in its letterbox, in whole pixels of the letterbox."""

    size: tuple[int, int]
    """(H, W) of the resized image"""
    offset: tuple[int, int]
    """(y, x) of its upper left corner"""


def letterbox_frame(in_size: Sequence[int], size: Sequence[int]) -> Frame:
    """Size and position of an image of in_size (H, W) in a letterbox of size (H, W): the largest that fits, centered.

    Sides and margins are rounded down as in darknet's `letterbox_image`; no side becomes less than 1.
    Raises ShapeError if either is not a pair of positive integers.
    """
    (in_h, in_w), (height, width) = as_size(in_size, "in_size"), as_size(size)
    if width * in_h < height * in_w:
        new = max(in_h * width // in_w, 1), width
    else:
        new = height, max(in_w * height // in_h, 1)
    return Frame(new, ((height - new[0]) // 2, (width - new[1]) // 2))


def letterbox(img: Image, size: Sequence[int], *, fill: float = 127.5) -> Image:
    """The image resized to fit into size with the same aspect ratio, centered and padded with `fill`.

    img: (C, H, W), [0, 255]
    size: (H, W) of the letterbox
    fill: value of the padding; darknet's 0.5 of [0, 1] is 127.5
    Returns (C, *size) float32. The image is resized by `resize_align_corners`, as in darknet.
    Raises ShapeError if img is not (C, H, W) or size is not a pair.
    """
    img = as_img(img)
    frame = letterbox_frame(img.shape[1:], size)
    out = np.full((len(img), *as_size(size)), fill, dtype=np.float32)
    (y, x), (height, width) = frame.offset, frame.size
    out[:, y : y + height, x : x + width] = resize_align_corners(img, frame.size)
    return out


def letterbox_bbox(bbox: ArrayLike, in_size: Sequence[int], size: Sequence[int]) -> BBox:
    """Boxes converted from the image to its letterbox.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels of the image
    in_size, size: (H, W) of the image and of the letterbox
    Returns (R, 4) of the same dtype, pixels of the letterbox.
    """
    bbox = as_bbox(bbox)
    scale, offset = _scale_offset(in_size, size, bbox.dtype)
    return bbox * scale + offset


def unletterbox_bbox(bbox: ArrayLike, in_size: Sequence[int], size: Sequence[int]) -> BBox:
    """Boxes converted from a letterbox to its image, the inverse of `letterbox_bbox`; not clipped to the image."""
    bbox = as_bbox(bbox)
    scale, offset = _scale_offset(in_size, size, bbox.dtype)
    return (bbox - offset) / scale


def _scale_offset(in_size: Sequence[int], size: Sequence[int], dtype: np.dtype[Any]) -> tuple[Array, Array]:
    frame = letterbox_frame(in_size, size)
    scale = [new / old for new, old in zip(frame.size, as_size(in_size))]
    return np.array(scale * 2, dtype=dtype), np.array(frame.offset * 2, dtype=dtype)
