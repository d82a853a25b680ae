"""An image with its annotations: boxes, masks, points, label map."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.rle import RLEs
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.crop import Slices, crop
from cvzoo.transforms.label_maps import crop_label_map
from cvzoo.transforms.sample.mask_formats import crop_masks, size_of_masks
from cvzoo.typing.aliases import Area, Array, ArrayLike, BBox, ClassMap, Flags, Image, Label, Mask, Point, Size

PER_INSTANCE = ("bbox", "label", "mask", "point", "visible", "rbbox", "difficult", "crowded", "area", "weight")


class Window(NamedTuple):
    """A pending crop: a window in pixels of the image, padded with fill outside of it."""

    y_slice: slice
    x_slice: slice
    fill: ArrayLike


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Sample:
    """An image and its annotations; fields that are None are unknown and stay None.

    Raises ShapeError if the fields are inconsistent in the number of instances or the size of the image.
    """

    img: Image
    """(C, H, W) in [0, 255], float32, or uint8 for speed"""
    bbox: BBox | None = None
    """(R, 4) float32, y_min x_min y_max x_max, pixels"""
    label: Label | None = None
    """(R,) int32 of the instances, or () of the whole image"""
    mask: Mask | RLEs | None = None
    """(R, H, W) bool, or run-length encoded: much smaller, and decoded one at a time by transforms"""
    point: Point | None = None
    """(R, K, 2) float32, y x, pixels"""
    visible: Flags | None = None
    """(R, K) bool; points outside of the image become invisible"""
    rbbox: Array | None = None
    """(R, 5) float32, y x of the center, height, width, degrees counterclockwise"""
    label_map: ClassMap | None = None
    """(H, W) int32, -1 = ignore"""
    difficult: Flags | None = None
    """(R,) bool"""
    crowded: Flags | None = None
    """(R,) bool"""
    area: Area | None = None
    """(R,) float32 of the masks; a crop scales it by the visible fraction of the box"""
    weight: Array | None = None
    """(R,) float32, loss weight of each instance, where images are mixed"""
    pending: Window | None = None
    """for transforms: a crop that is applied to boxes and points, and not yet to image, masks and label map"""

    def __post_init__(self) -> None:
        if self.pending is not None:
            return
        size = as_img(self.img).shape[1:]
        if self.mask is not None and size_of_masks(self.mask, size) != size:
            got = size_of_masks(self.mask, size)
            raise ShapeError("mask has a different size from img", expected=("R", *size), got=("R", *got))
        if self.label_map is not None and self.label_map.shape != size:
            raise ShapeError("label_map has a different size from img", expected=size, got=self.label_map.shape)
        counts = {name: len(value) for name, value in self.instances().items()}
        if len(set(counts.values())) > 1:
            raise ShapeError("the fields have different numbers of instances", got=counts)

    @property
    def size(self) -> Size:
        """(H, W) of the image."""
        if self.pending is None:
            return self.img.shape[1:]
        return tuple(side.stop - side.start for side in self.pending[:2])

    def instances(self) -> dict[str, Any]:
        """The fields that have one row per instance, by name."""
        fields = vars(self)
        present = {name: fields[name] for name in PER_INSTANCE if fields[name] is not None}
        if self.label is not None and np.ndim(self.label) == 0:
            del present["label"]
        return present

    def take(self, index: ArrayLike) -> "Sample":
        """The sample with the selected instances only, in this order. index: integers or (R,) bool."""
        return dataclasses.replace(self, **{name: value[index] for name, value in self.instances().items()})

    def values(self, keys: Sequence[str]) -> tuple[Any, ...]:
        """The tuple of the named fields, as an example of a data set: `sample.values(("img", "bbox", "label"))`.

        Raises ValueRangeError for an unknown field.
        """
        fields = vars(self)
        unknown = [key for key in keys if key not in fields]
        if unknown:
            raise ValueRangeError("a sample does not have the requested field", expected=", ".join(fields), got=unknown)
        return tuple(fields[key] for key in keys)


def settle(sample: Sample) -> Sample:
    """The sample with its pending crop, if any, applied to image, masks and label map."""
    if sample.pending is None:
        return sample
    y_slice, x_slice, fill = sample.pending
    img = crop(sample.img, y_slice=y_slice, x_slice=x_slice, fill=fill)
    mask, label_map = cut_maps(sample)
    return dataclasses.replace(sample, img=img, mask=mask, label_map=label_map, pending=None)


def cut_maps(sample: Sample) -> tuple[Mask | RLEs | None, ClassMap | None]:
    """The mask and the label map of a sample with its pending crop, if any, applied; None where it has none."""
    mask, label_map = sample.mask, sample.label_map
    if sample.pending is not None:
        sides: Slices = {"y_slice": sample.pending.y_slice, "x_slice": sample.pending.x_slice}
        mask = None if mask is None else crop_masks(mask, **sides)
        label_map = None if label_map is None else crop_label_map(label_map, **sides)
    return mask, label_map
