"""A photo with its boxes, masks, points and maps."""

import dataclasses
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.rle import RLEs
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.crop import crop
from cvzoo.transforms.label_maps import crop_label_map
from cvzoo.transforms.sample.mask_forms import crop_masks, size_of_masks

PER_INSTANCE = ("bbox", "label", "mask", "point", "visible", "rbbox", "difficult", "crowded", "area", "weight")


class Window(NamedTuple):
    """A crop that is decided and not yet cut: pixels of the photo; beyond it is fill."""

    y_slice: slice
    x_slice: slice
    fill: object


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Sample:
    """A photo and whatever is known about it; fields that are None are unknown and stay None.

    Raises ShapeError if the fields disagree about the number of instances or the size of the photo.
    """

    img: np.ndarray
    """(C, H, W) in [0, 255], float32, or uint8 for speed"""
    bbox: np.ndarray | None = None
    """(R, 4) float32, y_min x_min y_max x_max, pixels"""
    label: np.ndarray | None = None
    """(R,) int32 of the instances, or () of the whole photo"""
    mask: np.ndarray | RLEs | None = None
    """(R, H, W) bool, or run-length encoded: much smaller, and decoded one at a time by whatever changes it"""
    point: np.ndarray | None = None
    """(R, K, 2) float32, y x, pixels"""
    visible: np.ndarray | None = None
    """(R, K) bool; points that leave the photo become invisible"""
    rbbox: np.ndarray | None = None
    """(R, 5) float32, y x of the middle, height, width, degrees counterclockwise"""
    label_map: np.ndarray | None = None
    """(H, W) int32, -1 = ignore"""
    difficult: np.ndarray | None = None
    """(R,) bool"""
    crowded: np.ndarray | None = None
    """(R,) bool"""
    area: np.ndarray | None = None
    """(R,) float32 of the masks; a crop cuts it in proportion to the box"""
    weight: np.ndarray | None = None
    """(R,) float32, how much an instance counts, where photos are mixed"""
    pending: Window | None = None
    """for transforms: a crop that the boxes and points have undergone and the photo, masks and map not yet"""

    def __post_init__(self):
        if self.pending is not None:
            return
        size = as_img(self.img).shape[1:]
        if self.mask is not None and size_of_masks(self.mask, size) != size:
            got = size_of_masks(self.mask, size)
            raise ShapeError("mask has another size than img", expected=("R", *size), got=("R", *got))
        if self.label_map is not None and self.label_map.shape != size:
            raise ShapeError("label_map has another size than img", expected=size, got=self.label_map.shape)
        counts = {name: len(value) for name, value in self.instances().items()}
        if len(set(counts.values())) > 1:
            raise ShapeError("the fields disagree about the number of instances", got=counts)

    @property
    def size(self):
        """(H, W) of the photo."""
        if self.pending is None:
            return self.img.shape[1:]
        return tuple(side.stop - side.start for side in self.pending[:2])

    def instances(self):
        """The fields that hold one row an instance, by name."""
        fields = vars(self)
        found = {name: fields[name] for name in PER_INSTANCE if fields[name] is not None}
        if self.label is not None and np.ndim(self.label) == 0:
            del found["label"]
        return found

    def take(self, index):
        """The sample with these instances only, in this order. index: integers or (R,) bool."""
        return dataclasses.replace(self, **{name: value[index] for name, value in self.instances().items()})

    def values(self, keys):
        """The tuple of these fields, as a data set's example: `sample.values(("img", "bbox", "label"))`.

        Raises ValueRangeError for a name that is no field.
        """
        fields = vars(self)
        unknown = [key for key in keys if key not in fields]
        if unknown:
            raise ValueRangeError("a sample has no such field", expected=", ".join(fields), got=unknown)
        return tuple(fields[key] for key in keys)


def settle(sample):
    """The sample with its pending crop cut, if it has one."""
    if sample.pending is None:
        return sample
    y_slice, x_slice, fill = sample.pending
    img = crop(sample.img, y_slice=y_slice, x_slice=x_slice, fill=fill)
    mask, label_map = cut_maps(sample)
    return dataclasses.replace(sample, img=img, mask=mask, label_map=label_map, pending=None)


def cut_maps(sample):
    """The mask and the label map of a sample with its pending crop cut, if it has one; None where it has none."""
    mask, label_map = sample.mask, sample.label_map
    if sample.pending is not None:
        sides = {"y_slice": sample.pending.y_slice, "x_slice": sample.pending.x_slice}
        mask = None if mask is None else crop_masks(mask, **sides)
        label_map = None if label_map is None else crop_label_map(label_map, **sides)
    return mask, label_map
