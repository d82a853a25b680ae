"""Functions of instance masks in both formats, dense (R, H, W) bool and `RLEs`; the result has the same format."""

from collections.abc import Sequence

import numpy as np

from cvzoo.geometry.rle import RLEs
from cvzoo.transforms.masks import crop_mask, flip_mask, resize_mask, rotate_mask
from cvzoo.transforms.rle import crop_rle, flip_rle, resize_rle, rotate_rle
from cvzoo.typing.aliases import Flags, Mask, Size


def crop_masks(masks: Mask | RLEs, *, y_slice: slice, x_slice: slice) -> Mask | RLEs:
    """`crop_mask` or `crop_rle`."""
    if isinstance(masks, RLEs):
        return crop_rle(masks, y_slice=y_slice, x_slice=x_slice)
    return crop_mask(masks, y_slice=y_slice, x_slice=x_slice)


def flip_masks(masks: Mask | RLEs, *, y_flip: bool = False, x_flip: bool = False) -> Mask | RLEs:
    """`flip_mask` or `flip_rle`."""
    if isinstance(masks, RLEs):
        return flip_rle(masks, y_flip=y_flip, x_flip=x_flip)
    return flip_mask(masks, y_flip=y_flip, x_flip=x_flip)


def resize_masks(masks: Mask | RLEs, size: Sequence[int]) -> Mask | RLEs:
    """`resize_mask` or `resize_rle`."""
    return resize_rle(masks, size) if isinstance(masks, RLEs) else resize_mask(masks, size)


def rotate_masks(masks: Mask | RLEs, angle: float, *, expand: bool = True) -> Mask | RLEs:
    """`rotate_mask` or `rotate_rle`."""
    if isinstance(masks, RLEs):
        return rotate_rle(masks, angle, expand=expand)
    return rotate_mask(masks, angle, expand=expand)


def size_of_masks(masks: Mask | RLEs, size: Sequence[int]) -> Size:
    """(H, W) of the masks: of the first one that differs from size, if any; size itself if there are no masks."""
    if not isinstance(masks, RLEs):
        return masks.shape[1], masks.shape[2]
    others = masks.sizes[(masks.sizes != size).any(axis=1)]
    height, width = others[0].tolist() if len(others) else size
    return height, width


def masks_in_window(masks: Mask | RLEs, *, y_slice: slice, x_slice: slice) -> Flags:
    """(R,) bool, whether each mask has a pixel in the window."""
    if isinstance(masks, RLEs):
        return crop_rle(masks, y_slice=y_slice, x_slice=x_slice).area() > 0
    rows, columns = (slice(max(side.start, 0), max(side.stop, 0)) for side in (y_slice, x_slice))
    return np.any(masks[:, rows, columns], axis=(1, 2))


def join_masks(parts: Sequence[Mask | RLEs], size: Sequence[int]) -> Mask | RLEs:
    """The masks of several samples, concatenated; encoded if all are. size: (H, W) of all masks"""
    encoded = [part for part in parts if isinstance(part, RLEs)]
    if len(encoded) == len(parts):
        return RLEs.concatenate(encoded)
    return np.concatenate([dense_masks(part, size) for part in parts])


def dense_masks(masks: Mask | RLEs, size: Sequence[int]) -> Mask:
    """The masks as (R, *size) bool."""
    if not isinstance(masks, RLEs):
        return masks
    return masks.to_masks() if len(masks) else np.zeros((0, *size), bool)
