"""The four ways in which a sample's geometry changes: crop (and pad), resize, flip, rotate."""

import dataclasses

import numpy as np

from cvzoo.transforms.crop_bbox import crop_bbox
from cvzoo.transforms.flip import flip, flip_bbox, flip_point
from cvzoo.transforms.label_maps import flip_label_map, resize_label_map, rotate_label_map
from cvzoo.transforms.resize import resize
from cvzoo.transforms.resize_bbox import resize_bbox, resize_point
from cvzoo.transforms.resize_window import resize_window
from cvzoo.transforms.rotate import rotate, rotate_bbox, rotate_point
from cvzoo.transforms.rotated_bbox import flip_rbbox, resize_rbbox, rotate_rbbox, translate_rbbox
from cvzoo.transforms.sample.mask_forms import flip_masks, resize_masks, rotate_masks, seen_masks
from cvzoo.transforms.sample.sample import Window, cut_maps, settle
from cvzoo.transforms.translate import translate_point


def crop_sample(sample, *, y_slice, x_slice, fill=0, allow_outside_center=True):
    """The sample seen through a window, which may reach beyond the photo; pixels may be pending (see `settle`).

    Instances are dropped whose box, or without boxes whose mask or turned box's middle, leaves the window; points
    outside become invisible.
    """
    size = sample.size
    within = y_slice.start >= 0 and x_slice.start >= 0 and y_slice.stop <= size[0] and x_slice.stop <= size[1]
    if not within or (sample.bbox is None and sample.mask is not None):
        # a window in a window is one window, unless the first has cut away what the second would show again
        sample = settle(sample)
    top, left = y_slice.start, x_slice.start
    changes = {"pending": Window(y_slice, x_slice, fill)}
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
        sample = sample.take(seen_masks(sample.mask, y_slice=y_slice, x_slice=x_slice))
    elif sample.rbbox is not None:
        middle = sample.rbbox[:, :2]
        after_start, before_stop = middle >= (top, left), middle < (y_slice.stop, x_slice.stop)
        sample = sample.take((after_start & before_stop).all(axis=1))
    if sample.rbbox is not None:
        changes["rbbox"] = translate_rbbox(sample.rbbox, y_offset=-top, x_offset=-left)
    if sample.point is not None:
        changes["point"] = translate_point(sample.point, y_offset=-top, x_offset=-left)
        changes["visible"] = _in_view(changes["point"], sample.visible, (y_slice.stop - top, x_slice.stop - left))
    return dataclasses.replace(sample, **changes)


def resize_sample(sample, size, *, interpolation="bilinear", backend="pillow"):
    """The sample in another size (H, W); masks and label map keep their values."""
    in_size = sample.size
    resampling = {"interpolation": interpolation, "backend": backend}
    if sample.pending is None:
        changes = {"img": resize(sample.img, size, **resampling)}
    else:
        y_slice, x_slice, fill = sample.pending
        img = resize_window(sample.img, y_slice, x_slice, size, fill=fill, **resampling)
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


def flip_sample(sample, *, y_flip=False, x_flip=False):
    """The mirrored sample; the sample itself if neither side is mirrored."""
    if not y_flip and not x_flip:
        return sample
    sample = settle(sample)
    sides = {"y_flip": y_flip, "x_flip": x_flip}
    changes = {"img": flip(sample.img, **sides)}
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


def rotate_sample(sample, angle, *, expand=True, fill=0, interpolation="bilinear"):
    """The sample turned counterclockwise by degrees; boxes become the upright boxes around the turned ones."""
    sample = settle(sample)
    size = sample.size
    changes = {"img": rotate(sample.img, angle, expand=expand, fill=fill, interpolation=interpolation)}
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
    # corners have left the frame: boxes are cut to it and what is wholly outside is dropped, as a crop does
    return settle(crop_sample(turned, y_slice=slice(0, new_size[0]), x_slice=slice(0, new_size[1])))


def _in_view(point, visible, size):
    inside = ((point >= 0) & (point < np.array(size, point.dtype))).all(axis=2)
    return inside if visible is None else inside & visible


def _share(before, after):
    whole, left = ((bbox[:, 2:] - bbox[:, :2]).prod(axis=1) for bbox in (before, after))
    return np.divide(left, whole, out=np.zeros_like(whole), where=whole > 0)
