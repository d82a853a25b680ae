"""The geometric transforms of samples: crop (and pad), resize, flip, rotate."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.transforms.crop_bbox import crop_bbox
from cvzoo.transforms.flip import flip, flip_bbox, flip_point
from cvzoo.transforms.label_maps import flip_label_map, resize_label_map, rotate_label_map
from cvzoo.transforms.resize import Backend, Interpolation, resize
from cvzoo.transforms.resize_bbox import resize_bbox, resize_point
from cvzoo.transforms.resize_window import resize_window
from cvzoo.transforms.rotate import rotate, rotate_bbox, rotate_point
from cvzoo.transforms.rotated_bbox import flip_rbbox, resize_rbbox, rotate_rbbox, translate_rbbox
from cvzoo.transforms.sample.mask_formats import flip_masks, masks_in_window, resize_masks, rotate_masks
from cvzoo.transforms.sample.sample import Sample, Window, cut_maps, settle
from cvzoo.transforms.translate import translate_point
from cvzoo.typing.aliases import Array, ArrayLike, BBox, Point


def crop_sample(
    sample: Sample, *, y_slice: slice, x_slice: slice, fill: ArrayLike = 0, allow_outside_center: bool = True
) -> Sample:
    """The sample cropped to a window, which may extend outside of the image; pixels may be pending (see `settle`).

    Instances outside of the window are dropped, by their box, or without boxes by their mask or the center of their
    rotated box; points outside become invisible.
    """
    size = sample.size
    within = y_slice.start >= 0 and x_slice.start >= 0 and y_slice.stop <= size[0] and x_slice.stop <= size[1]
    if not within or (sample.bbox is None and sample.mask is not None):
        # two crops combine into one window, unless the second one extends outside of the first one: that part is fill
        sample = settle(sample)
    top, left = y_slice.start, x_slice.start
    changes: dict[str, Any] = {"pending": Window(y_slice, x_slice, fill)}
    if sample.pending is not None:
        outer = sample.pending
        changes["pending"] = Window(
            slice(outer.y_slice.start + top, outer.y_slice.start + y_slice.stop),
            slice(outer.x_slice.start + left, outer.x_slice.start + x_slice.stop),
            outer.fill,
        )
    if sample.bbox is not None:
        bbox, param = crop_bbox(
            sample.bbox,
            y_slice=y_slice,
            x_slice=x_slice,
            allow_outside_center=allow_outside_center,
            return_param=True,
        )
        changes["bbox"], index = bbox, param["index"]
        if sample.area is not None:
            changes["area"] = sample.area[index] * _share(sample.bbox[index], bbox)
        if len(index) < len(sample.bbox):
            sample = sample.take(index)
    elif sample.mask is not None:
        sample = sample.take(masks_in_window(sample.mask, y_slice=y_slice, x_slice=x_slice))
    elif sample.rbbox is not None:
        center = sample.rbbox[:, :2]
        after_start, before_stop = center >= (top, left), center < (y_slice.stop, x_slice.stop)
        sample = sample.take((after_start & before_stop).all(axis=1))
    if sample.rbbox is not None:
        changes["rbbox"] = translate_rbbox(sample.rbbox, y_offset=-top, x_offset=-left)
    if sample.point is not None:
        changes["point"] = translate_point(sample.point, y_offset=-top, x_offset=-left)
        changes["visible"] = _in_view(changes["point"], sample.visible, (y_slice.stop - top, x_slice.stop - left))
    return dataclasses.replace(sample, **changes)


def resize_sample(
    sample: Sample, size: Sequence[int], *, interpolation: Interpolation | int = "bilinear", backend: Backend = "pillow"
) -> Sample:
    """The sample resized to (H, W); masks and label map by nearest-neighbor interpolation."""
    in_size = sample.size
    if sample.pending is None:
        changes: dict[str, Any] = {"img": resize(sample.img, size, interpolation=interpolation, backend=backend)}
    else:
        y_slice, x_slice, fill = sample.pending
        img = resize_window(sample.img, y_slice, x_slice, size, fill=fill, interpolation=interpolation, backend=backend)
        changes = {"img": img, "pending": None}
    if sample.bbox is not None:
        changes["bbox"] = resize_bbox(sample.bbox, in_size, size)
    if sample.rbbox is not None:
        changes["rbbox"] = resize_rbbox(sample.rbbox, in_size, size)
    if sample.point is not None:
        changes["point"] = resize_point(sample.point, in_size, size)
    if sample.area is not None:
        changes["area"] = sample.area * np.float32(size[0] * size[1] / (in_size[0] * in_size[1]))
    mask, label_map = cut_maps(sample)
    if mask is not None:
        changes["mask"] = resize_masks(mask, size)
    if label_map is not None:
        changes["label_map"] = resize_label_map(label_map, size)
    return dataclasses.replace(sample, **changes)


def flip_sample(sample: Sample, *, y_flip: bool = False, x_flip: bool = False) -> Sample:
    """The flipped sample; the sample itself if neither axis is flipped."""
    if not y_flip and not x_flip:
        return sample
    sample = settle(sample)
    sides = {"y_flip": y_flip, "x_flip": x_flip}
    changes: dict[str, Any] = {"img": flip(sample.img, **sides)}
    if sample.bbox is not None:
        changes["bbox"] = flip_bbox(sample.bbox, sample.size, **sides)
    if sample.rbbox is not None:
        changes["rbbox"] = flip_rbbox(sample.rbbox, sample.size, **sides)
    if sample.point is not None:
        changes["point"] = flip_point(sample.point, sample.size, **sides)
    if sample.mask is not None:
        changes["mask"] = flip_masks(sample.mask, **sides)
    if sample.label_map is not None:
        changes["label_map"] = flip_label_map(sample.label_map, **sides)
    return dataclasses.replace(sample, **changes)


def rotate_sample(
    sample: Sample,
    angle: float,
    *,
    expand: bool = True,
    fill: ArrayLike = 0,
    interpolation: Interpolation | int = "bilinear",
) -> Sample:
    """The sample rotated counterclockwise by angle degrees; boxes become the axis-aligned boxes around rotated ones."""
    sample = settle(sample)
    size = sample.size
    changes: dict[str, Any] = {"img": rotate(sample.img, angle, expand=expand, fill=fill, interpolation=interpolation)}
    new_size = changes["img"].shape[1:]
    if sample.rbbox is not None:
        changes["rbbox"] = rotate_rbbox(sample.rbbox, angle, size, expand=expand)
    if sample.point is not None:
        changes["point"] = rotate_point(sample.point, angle, size, expand=expand)
        changes["visible"] = _in_view(changes["point"], sample.visible, new_size)
    if sample.mask is not None:
        changes["mask"] = rotate_masks(sample.mask, angle, expand=expand)
    if sample.label_map is not None:
        changes["label_map"] = rotate_label_map(sample.label_map, angle, expand=expand)
    if sample.bbox is not None:
        changes["bbox"] = rotate_bbox(sample.bbox, angle, size, expand=expand)
    turned = dataclasses.replace(sample, **changes)
    if expand:
        return turned
    # corners are now outside of the image: as in a crop, boxes are clipped and instances outside are dropped
    return settle(crop_sample(turned, y_slice=slice(0, new_size[0]), x_slice=slice(0, new_size[1])))


def _in_view(point: Point, visible: Array | None, size: Sequence[int]) -> Array:
    inside = np.all((point >= 0) & (point < np.array(size, point.dtype)), axis=2)
    return inside if visible is None else inside & visible


def _share(before: BBox, after: BBox) -> Array:
    whole, left = ((bbox[:, 2:] - bbox[:, :2]).prod(axis=1) for bbox in (before, after))
    return np.divide(left, whole, out=np.zeros_like(whole), where=whole > 0)
