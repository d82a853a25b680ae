"""What the data sets of COCO's JSON files have in common."""

import pathlib

import numpy as np

from cvzoo.datasets.coco.json_columns import read_columns
from cvzoo.datasets.coco.masks import TextSpans, masks_from_json
from cvzoo.datasets.coco.publication import find_photos
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.photo_place import check_photo_place, leads_out
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.errors.exceptions import DatasetError
from cvzoo.geometry.has_area import has_area
from cvzoo.images.read_image import read_image
from cvzoo.images.read_image_size import read_image_size
from cvzoo.labels.class_colors import class_colors
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.coco_panoptic import coco_semantic_segmentation_label_colors


class AbstractCOCODataset(GetterDataset):
    """Photos and annotations of one JSON file. Photos are in the order of their ids; those without objects stay.

    label_names: the file's classes in the order of their ids, which is the order of the labels
    label_colors: an (R, G, B) a class; COCO's own classes have the colours of its panoptic files
    image_ids: (N,) int64; category_ids: (C,) int64, what stands in the file for label 0, 1 ...

    Annotations whose box is empty are left out, and with them their masks and points.
    allow_outside: photos may lie outside of the folder of the photos, by their names or by links; without it such a
        name is a DatasetError at once, a link when the photo is read
    """

    def __init__(
        self, json_path, image_dir, *, use_crowded, with_masks=False, with_keypoints=False, allow_outside: bool = False
    ):
        super().__init__()
        columns = read_columns(json_path, with_masks=with_masks, with_keypoints=with_keypoints)
        self._columns = columns
        self._texts = TextSpans(json_path) if with_masks else None
        _check_names(json_path, columns.file_names, allow_outside)
        self._image_dir = find_photos(json_path, image_dir, columns.file_names[0] if columns.file_names else None)
        named = None if image_dir is None else self._image_dir
        self._real_folders = DataSpec("coco", pathlib.Path(json_path), named).real_folders((self._image_dir,))
        self._allow_outside = allow_outside
        self.label_names = columns.label_names
        self.label_colors = _colors(columns.label_names)
        self.image_ids = columns.image_ids
        self.category_ids = columns.category_ids
        self._kept = has_area(columns.bbox)
        if not use_crowded:
            self._kept &= ~columns.crowded
        self.name_examples(self._photo)

    def __len__(self):
        return len(self._columns.file_names)

    def _photo(self, i):
        return self._image_dir / self._columns.file_names[i]

    def _rows(self, i):
        start, stop = self._columns.offsets[i : i + 2]
        return start + np.flatnonzero(self._kept[start:stop])

    def _get_img(self, i):
        path = self._photo(i)
        check_photo_place(path, self._real_folders, allow_outside=self._allow_outside)
        return read_image(path)

    def _get_annotation(self, i):
        rows = self._rows(i)
        columns = self._columns
        return columns.bbox[rows], columns.label[rows], columns.area[rows], columns.crowded[rows]

    def _get_masks(self, i):
        columns = self._columns
        size = tuple(columns.sizes[i].tolist())
        if min(size) < 0:
            size = read_image_size(self._photo(i))
        rows = self._rows(i)
        texts = self._texts.read(columns.mask_spans[rows])
        return masks_from_json(texts, size, [f"annotation {columns.annotation_ids[row]}" for row in rows])

    def _get_points(self, i):
        found = self._columns.keypoints[self._rows(i)]
        found = found.reshape(len(found), len(self._columns.keypoint_names), 3)
        if np.isnan(found).any():
            raise DatasetError(f"{self._photo(i)}: an annotation has no key points")
        return found[:, :, [1, 0]], found[:, :, 2] > 0


def _check_names(json_path, names, allow_outside):
    for name in names:
        if "\0" in name:
            raise DatasetError(f"{json_path}: a file_name holds a zero byte", got=repr(name)[:80])
        if not allow_outside and leads_out(name):
            raise DatasetError(
                f"{json_path}: a file_name leads out of the folder of the photos",
                got=repr(name)[:80],
                hint="allow_outside=True (--allow-outside, or ,outside=1 behind the SPEC) if you trust the file",
            )


def _colors(names):
    if set(names) <= set(coco_bbox_label_names):
        return tuple(coco_semantic_segmentation_label_colors[coco_bbox_label_names.index(name)] for name in names)
    return class_colors(len(names))


def chosen_keys(first, wanted):
    """The keys of an example: `first`, then those of the pairs (key, flag) whose flag is set, in their order."""
    return (*first, *(key for key, flag in wanted if flag))
