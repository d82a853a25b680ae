"""Instance masks of a sample, dense (R, H, W) bool or `RLEs`: each function takes both and gives back what it took."""

import numpy as np

from cvzoo.geometry.rle import RLEs
from cvzoo.transforms.masks import crop_mask, flip_mask, resize_mask, rotate_mask
from cvzoo.transforms.rle import crop_rle, flip_rle, resize_rle, rotate_rle


def crop_masks(masks, *, y_slice, x_slice):
    """`crop_mask` or `crop_rle`."""
    change = crop_rle if isinstance(masks, RLEs) else crop_mask
    return change(masks, y_slice=y_slice, x_slice=x_slice)


def flip_masks(masks, *, y_flip=False, x_flip=False):
    """`flip_mask` or `flip_rle`."""
    change = flip_rle if isinstance(masks, RLEs) else flip_mask
    return change(masks, y_flip=y_flip, x_flip=x_flip)


def resize_masks(masks, size):
    """`resize_mask` or `resize_rle`."""
    return resize_rle(masks, size) if isinstance(masks, RLEs) else resize_mask(masks, size)


def rotate_masks(masks, angle, *, expand=True):
    """`rotate_mask` or `rotate_rle`."""
    change = rotate_rle if isinstance(masks, RLEs) else rotate_mask
    return change(masks, angle, expand=expand)


def size_of_masks(masks, size):
    """(H, W) of the masks, of the first that differs from size if one does; size where there is no mask to tell."""
    if not isinstance(masks, RLEs):
        return masks.shape[1:]
    others = masks.sizes[(masks.sizes != size).any(axis=1)]
    return tuple(others[0].tolist()) if len(others) else tuple(size)


def seen_masks(masks, *, y_slice, x_slice):
    """(R,) bool, which masks have a pixel in the window."""
    if isinstance(masks, RLEs):
        return crop_rle(masks, y_slice=y_slice, x_slice=x_slice).area() > 0
    rows, columns = (slice(max(side.start, 0), max(side.stop, 0)) for side in (y_slice, x_slice))
    return masks[:, rows, columns].any(axis=(1, 2))


def join_masks(parts, size):
    """The masks of several samples one after another; encoded if all are. size: (H, W) of them all"""
    if all(isinstance(part, RLEs) for part in parts):
        return RLEs.concatenate(parts)
    return np.concatenate([dense_masks(part, size) for part in parts])


def dense_masks(masks, size):
    """The masks as (R, *size) bool."""
    if not isinstance(masks, RLEs):
        return masks
    return masks.to_masks() if len(masks) else np.zeros((0, *size), bool)
