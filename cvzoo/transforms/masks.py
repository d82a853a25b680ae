"""Instance masks that follow their photo."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.transforms.as_mask import as_mask
from cvzoo.transforms.crop import crop
from cvzoo.transforms.flip import flip
from cvzoo.transforms.resize import resize
from cvzoo.transforms.rotate import rotate


def flip_mask(mask, *, y_flip=False, x_flip=False):
    """The masks of a mirrored photo, (R, H, W) bool, a new array. Raises ShapeError or DtypeError for other masks."""
    return flip(as_mask(mask), y_flip=y_flip, x_flip=x_flip)


def resize_mask(mask, size):
    """The masks of a resized photo: each pixel is that of the old one under its middle, so edges stay sharp.

    mask: (R, H, W) bool
    size: (H, W) to come
    Returns (R, *size) bool, a new array.
    Raises ShapeError or DtypeError for other masks, ShapeError if size is no pair.
    """
    return resize(as_mask(mask), size, interpolation="nearest")


def crop_mask(mask, *, y_slice, x_slice):
    """The masks of a cropped photo; where the window reaches beyond the photo they are false.

    mask: (R, H, W) bool; none is dropped, some may be empty afterwards
    y_slice, x_slice: as in `crop`
    Returns (R, H', W') bool, a new array.
    Raises ShapeError or DtypeError for other masks, ShapeError if the window is empty.
    """
    return crop(as_mask(mask), y_slice=y_slice, x_slice=x_slice, fill=False)


def rotate_mask(mask, angle, *, expand=True):
    """The masks of a photo turned by `rotate`, (R, H', W') bool, a new array, false where nothing was.

    Raises ShapeError or DtypeError for other masks.
    """
    return rotate(as_mask(mask), angle, expand=expand, fill=False, interpolation="nearest")


def scale_mask(mask, bbox, size):
    """The masks of an image whose shorter side becomes `size`, (R, H', W') bool, a new array.

    mask: (R, H, W) bool
    bbox: (R, 4), boxes around the masks, as `geometry.mask_to_bbox` gives them: each mask is resized within its box
        only, whose edges go to whole pixels outwards
    size: pixels
    Raises ShapeError or DtypeError for other masks; ShapeError if there is not one box a mask.
    Source: ChainerCV's function of this name.
    """
    mask = as_mask(mask)
    bbox = as_bbox(bbox)
    if len(bbox) != len(mask):
        raise ShapeError("scale_mask: one box a mask", expected=len(mask), got=len(bbox))
    height, width = mask.shape[1:]
    factor = size / min(height, width)
    scaled = (size, int(size * width / height)) if height < width else (int(size * height / width), size)
    result = np.zeros((len(mask), *scaled), np.bool_)
    edges = np.concatenate([np.floor(bbox[:, :2]), np.ceil(bbox[:, 2:])], axis=1).astype(np.int64)
    places = edges * factor
    places = np.concatenate([np.floor(places[:, :2]), np.ceil(places[:, 2:])], axis=1).astype(np.int64)
    for one, old, new, target in zip(mask, edges, places, result):
        window = target[new[0] : new[2], new[1] : new[3]]
        if window.size:
            piece = resize_mask(one[None, old[0] : old[2], old[1] : old[3]], new[2:] - new[:2])[0]
            window[:] = piece[: window.shape[0], : window.shape[1]]
    return result
