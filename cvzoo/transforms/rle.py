"""Geometric transforms of run-length encoded masks: decoded one at a time, transformed and encoded again."""

from collections.abc import Callable, Sequence

from cvzoo.geometry.rle import RLEs
from cvzoo.transforms.masks import crop_mask, flip_mask, resize_mask, rotate_mask
from cvzoo.typing.aliases import Mask


def flip_rle(rles: RLEs, *, y_flip: bool = False, x_flip: bool = False) -> RLEs:
    """The masks of flipped images, new RLEs. rles: `geometry.RLEs`, each mask of its own size"""
    return _each(rles, lambda mask: flip_mask(mask, y_flip=y_flip, x_flip=x_flip))


def resize_rle(rles: RLEs, size: Sequence[int]) -> RLEs:
    """The masks of images resized to size (H, W), new RLEs. Raises ShapeError if size is not a pair."""
    return _each(rles, lambda mask: resize_mask(mask, size))


def crop_rle(rles: RLEs, *, y_slice: slice, x_slice: slice) -> RLEs:
    """The masks of cropped images, new RLEs; none is dropped. y_slice, x_slice: as in `crop`"""
    return _each(rles, lambda mask: crop_mask(mask, y_slice=y_slice, x_slice=x_slice))


def rotate_rle(rles: RLEs, angle: float, *, expand: bool = True) -> RLEs:
    """The masks of images rotated by `rotate`, new RLEs."""
    return _each(rles, lambda mask: rotate_mask(mask, angle, expand=expand))


def _each(rles: RLEs, change: Callable[[Mask], Mask]) -> RLEs:
    # one at a time, since the dense masks of a whole data set would not fit into memory
    changed = [RLEs.from_masks(change(rles[index].to_masks())) for index in range(len(rles))]
    return RLEs.concatenate(changed) if changed else rles
