"""Label maps that follow their photo."""

from cvzoo.transforms.as_mask import as_label_map
from cvzoo.transforms.crop import crop
from cvzoo.transforms.flip import flip
from cvzoo.transforms.resize import resize
from cvzoo.transforms.rotate import rotate


def flip_label_map(label, *, y_flip=False, x_flip=False):
    """The label map of a mirrored photo, (H, W), a new array. Raises ShapeError or DtypeError for anything else."""
    return flip(as_label_map(label)[None], y_flip=y_flip, x_flip=x_flip)[0]


def resize_label_map(label, size):
    """The label map of a resized photo: each pixel is that of the old one under its middle, classes never mix.

    label: (H, W) int32
    size: (H, W) to come
    Returns *size of the same dtype, a new array.
    Raises ShapeError or DtypeError for anything else, ShapeError if size is no pair.
    """
    return resize(as_label_map(label)[None], size, interpolation="nearest")[0]


def crop_label_map(label, *, y_slice, x_slice, fill=-1):
    """The label map of a cropped photo; where the window reaches beyond the photo it is fill, -1 = ignore.

    label: (H, W) int32
    y_slice, x_slice: as in `crop`
    Returns (H', W') of the same dtype, a new array.
    Raises ShapeError or DtypeError for anything else, ShapeError if the window is empty.
    """
    return crop(as_label_map(label)[None], y_slice=y_slice, x_slice=x_slice, fill=fill)[0]


def rotate_label_map(label, angle, *, expand=True, fill=-1):
    """The label map of a photo turned by `rotate`, (H', W'), a new array, fill where nothing was, -1 = ignore.

    Raises ShapeError or DtypeError for anything else.
    """
    return rotate(as_label_map(label)[None], angle, expand=expand, fill=fill, interpolation="nearest")[0]
