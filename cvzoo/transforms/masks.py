"""Instance masks that follow their photo."""

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
