"""Run-length encoded masks that follow their photo: decoded one at a time, changed and encoded again."""

from cvzoo.geometry.rle import RLEs
from cvzoo.transforms.masks import crop_mask, flip_mask, resize_mask, rotate_mask


def flip_rle(rles, *, y_flip=False, x_flip=False):
    """The masks of mirrored photos, new RLEs. rles: `geometry.RLEs`, each mask of its own size"""
    return _each(rles, lambda mask: flip_mask(mask, y_flip=y_flip, x_flip=x_flip))


def resize_rle(rles, size):
    """The masks of photos resized to size (H, W), new RLEs. Raises ShapeError if size is no pair."""
    return _each(rles, lambda mask: resize_mask(mask, size))


def crop_rle(rles, *, y_slice, x_slice):
    """The masks of cropped photos, new RLEs; none is dropped. y_slice, x_slice: as in `crop`"""
    return _each(rles, lambda mask: crop_mask(mask, y_slice=y_slice, x_slice=x_slice))


def rotate_rle(rles, angle, *, expand=True):
    """The masks of photos turned by `rotate`, new RLEs."""
    return _each(rles, lambda mask: rotate_mask(mask, angle, expand=expand))


def _each(rles, change):
    # dense masks of a whole data set would not fit into memory
    changed = [RLEs.from_masks(change(rles[index].to_masks())) for index in range(len(rles))]
    return RLEs.concatenate(changed) if changed else rles
