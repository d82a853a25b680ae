"""Geometric transforms of label maps (semantic segmentation)."""

from collections.abc import Sequence

from cvzoo.transforms.as_mask import as_label_map
from cvzoo.transforms.crop import crop
from cvzoo.transforms.flip import flip
from cvzoo.transforms.resize import resize
from cvzoo.transforms.rotate import rotate
from cvzoo.typing.aliases import ClassMap


def flip_label_map(label: ClassMap, *, y_flip: bool = False, x_flip: bool = False) -> ClassMap:
    """The label map of a flipped image, (H, W), a new array. Raises ShapeError or DtypeError for any other input."""
    return flip(as_label_map(label)[None], y_flip=y_flip, x_flip=x_flip)[0]


def resize_label_map(label: ClassMap, size: Sequence[int]) -> ClassMap:
    """The label map of a resized image, by nearest-neighbor interpolation: classes are never mixed.

    label: (H, W) int32
    size: (H, W) of the result
    Returns *size of the same dtype, a new array.
    Raises ShapeError or DtypeError for any other input, ShapeError if size is not a pair.
    """
    return resize(as_label_map(label)[None], size, interpolation="nearest")[0]


def crop_label_map(label: ClassMap, *, y_slice: slice, x_slice: slice, fill: int = -1) -> ClassMap:
    """The label map of a cropped image, padded with fill outside of the image, -1 = ignore.

    label: (H, W) int32
    y_slice, x_slice: as in `crop`
    Returns (H', W') of the same dtype, a new array.
    Raises ShapeError or DtypeError for any other input, ShapeError if the window is empty.
    """
    return crop(as_label_map(label)[None], y_slice=y_slice, x_slice=x_slice, fill=fill)[0]


def rotate_label_map(label: ClassMap, angle: float, *, expand: bool = True, fill: int = -1) -> ClassMap:
    """The label map of an image rotated by `rotate`, (H', W'), a new array, padded with fill, -1 = ignore.

    Raises ShapeError or DtypeError for any other input.
    """
    return rotate(as_label_map(label)[None], angle, expand=expand, fill=fill, interpolation="nearest")[0]
