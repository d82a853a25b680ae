"""Fit a photo into a frame without changing its proportions, and carry boxes there and back."""

from typing import NamedTuple

import numpy as np

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.as_size import as_size
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.resize_align_corners import resize_align_corners


class Frame(NamedTuple):
    """Where a photo lies in its letterbox: all in pixels of the letterbox, whole numbers."""

    size: tuple[int, int]
    """(H, W) of the photo once resized"""
    offset: tuple[int, int]
    """(y, x) of its upper left corner"""


def letterbox_frame(in_size, size):
    """Where a photo of in_size (H, W) lies in a letterbox of size (H, W): the largest that fits, centred.

    Sides and margins are cut to whole pixels as darknet does (`letterbox_image`); no side becomes less than 1.
    Raises ShapeError if either is no pair of positive integers.
    """
    (in_h, in_w), (height, width) = as_size(in_size, "in_size"), as_size(size)
    if width * in_h < height * in_w:
        new = max(in_h * width // in_w, 1), width
    else:
        new = height, max(in_w * height // in_h, 1)
    return Frame(new, ((height - new[0]) // 2, (width - new[1]) // 2))


def letterbox(img, size, *, fill=127.5):
    """The photo resized to fit into size, in the middle, with `fill` on both sides of it.

    img: (C, H, W), [0, 255]
    size: (H, W) of the letterbox
    fill: the value of the margins; darknet's 0.5 of [0, 1] is 127.5
    Returns (C, *size) float32. The resizing is `resize_align_corners`, darknet's.
    Raises ShapeError if img is not (C, H, W) or size no pair.
    """
    img = as_img(img)
    frame = letterbox_frame(img.shape[1:], size)
    out = np.full((len(img), *as_size(size)), fill, dtype=np.float32)
    (y, x), (height, width) = frame.offset, frame.size
    out[:, y : y + height, x : x + width] = resize_align_corners(img, frame.size)
    return out


def letterbox_bbox(bbox, in_size, size):
    """Boxes of the photo as boxes of its letterbox.

    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels of the photo
    in_size, size: (H, W) of the photo and of the letterbox
    Returns (R, 4) of the same dtype, pixels of the letterbox.
    """
    bbox = as_bbox(bbox)
    scale, offset = _scale_offset(in_size, size, bbox.dtype)
    return bbox * scale + offset


def unletterbox_bbox(bbox, in_size, size):
    """Boxes of a letterbox as boxes of the photo in it, the inverse of `letterbox_bbox`; not clipped to the photo."""
    bbox = as_bbox(bbox)
    scale, offset = _scale_offset(in_size, size, bbox.dtype)
    return (bbox - offset) / scale


def _scale_offset(in_size, size, dtype):
    frame = letterbox_frame(in_size, size)
    scale = [new / old for new, old in zip(frame.size, as_size(in_size))]
    return np.array(scale * 2, dtype=dtype), np.array(frame.offset * 2, dtype=dtype)
