"""Geometric transforms of instance masks."""

from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.transforms.as_mask import as_mask
from cvzoo.transforms.crop import crop
from cvzoo.transforms.flip import flip
from cvzoo.transforms.resize import resize
from cvzoo.transforms.rotate import rotate
from cvzoo.typing.aliases import ArrayLike, Mask


def flip_mask(mask: Mask, *, y_flip: bool = False, x_flip: bool = False) -> Mask:
    """The masks of a flipped image, (R, H, W) bool, a new array. Raises ShapeError or DtypeError for other masks."""
    return flip(as_mask(mask), y_flip=y_flip, x_flip=x_flip)


def resize_mask(mask: Mask, size: Sequence[int]) -> Mask:
    """The masks of a resized image, by nearest-neighbor interpolation.

    mask: (R, H, W) bool
    size: (H, W) of the result
    Returns (R, *size) bool, a new array.
    Raises ShapeError or DtypeError for other masks, ShapeError if size is not a pair.
    """
    return resize(as_mask(mask), size, interpolation="nearest")


def crop_mask(mask: Mask, *, y_slice: slice, x_slice: slice) -> Mask:
    """The masks of a cropped image, false outside of the image.

    mask: (R, H, W) bool; none is dropped, and some may become empty
    y_slice, x_slice: as in `crop`
    Returns (R, H', W') bool, a new array.
    Raises ShapeError or DtypeError for other masks, ShapeError if the window is empty.
    """
    return crop(as_mask(mask), y_slice=y_slice, x_slice=x_slice, fill=False)


def rotate_mask(mask: Mask, angle: float, *, expand: bool = True) -> Mask:
    """The masks of an image rotated by `rotate`, (R, H', W') bool, a new array, false outside of the image.

    Raises ShapeError or DtypeError for other masks.
    """
    return rotate(as_mask(mask), angle, expand=expand, fill=False, interpolation="nearest")


def scale_mask(mask: Mask, bbox: ArrayLike, size: int) -> Mask:
    """The masks of an image that is resized to a shorter side of `size`, (R, H', W') bool, a new array.

    mask: (R, H, W) bool
    bbox: (R, 4), bounding boxes of the masks, as returned by `geometry.mask_to_bbox`: each mask is resized inside its
        box only, with the edges rounded outwards to whole pixels
    size: pixels
    Raises ShapeError or DtypeError for other masks; ShapeError unless there is one box per mask.
    Source: ChainerCV's function of this name.
    """
    mask = as_mask(mask)
    bbox = as_bbox(bbox)
    if len(bbox) != len(mask):
        raise ShapeError("scale_mask: bbox must have one box per mask", expected=len(mask), got=len(bbox))
    height, width = mask.shape[1:]
    factor = size / min(height, width)
    scaled = (size, int(size * width / height)) if height < width else (int(size * height / width), size)
    result = np.zeros((len(mask), *scaled), np.bool_)
    edges = np.concatenate([np.floor(bbox[:, :2]), np.ceil(bbox[:, 2:])], axis=1).astype(np.int64)
    new_edges = edges * factor
    new_edges = np.concatenate([np.floor(new_edges[:, :2]), np.ceil(new_edges[:, 2:])], axis=1).astype(np.int64)
    for one, old, new, target in zip(mask, edges, new_edges, result):
        window = target[new[0] : new[2], new[1] : new[3]]
        if window.size:
            piece = resize_mask(one[None, old[0] : old[2], old[1] : old[3]], (new[2:] - new[:2]).tolist())[0]
            window[:] = piece[: window.shape[0], : window.shape[1]]
    return result
