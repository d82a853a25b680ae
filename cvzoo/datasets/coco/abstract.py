"""The base class of data sets in COCO's JSON format."""

import pathlib
from collections.abc import Iterable, Sequence

import numpy as np

from cvzoo.datasets.coco.json_columns import read_columns
from cvzoo.datasets.coco.masks import TextSpans, masks_from_json
from cvzoo.datasets.coco.publication import find_image_dir
from cvzoo.datasets.image_location import check_image_location, leads_out
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.errors.exceptions import DatasetError
from cvzoo.geometry.has_area import has_area
from cvzoo.images.read_image import read_image
from cvzoo.images.read_image_size import read_image_size
from cvzoo.labels.class_colors import class_colors
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.coco_panoptic import coco_semantic_segmentation_label_colors
from cvzoo.typing.aliases import Area, Array, BBox, FilePath, Flags, Image, Label, Mask, Point


class AbstractCOCODataset(GetterDataset):
    """Images and annotations of one JSON file, in the order of the image ids, including images without objects.

    label_names: the file's classes in the order of their ids, which is the order of the labels
    label_colors: one (R, G, B) per class; for COCO's own classes the colors of its panoptic files
    image_ids: (N,) int64; category_ids: (C,) int64, the file's ids of label 0, 1 ...

    Annotations with an empty box are dropped, with their masks and keypoints.
    allow_outside: images may be outside of the image folder, by their names or by links; otherwise such a name raises
        DatasetError at once, a link when the image is read
    """

    def __init__(
        self,
        json_path: FilePath,
        image_dir: FilePath | None,
        *,
        use_crowded: bool,
        with_masks: bool = False,
        with_keypoints: bool = False,
        allow_outside: bool = False,
    ) -> None:
        super().__init__()
        columns = read_columns(json_path, with_masks=with_masks, with_keypoints=with_keypoints)
        self._columns = columns
        self._segmentations = TextSpans(json_path) if with_masks else None
        _check_names(json_path, columns.file_names, allow_outside)
        self._image_dir = find_image_dir(json_path, image_dir, columns.file_names[0] if columns.file_names else None)
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
        self.name_examples(self._image_path)

    def __len__(self) -> int:
        return len(self._columns.file_names)

    def _image_path(self, i: int) -> pathlib.Path:
        return self._image_dir / self._columns.file_names[i]

    def _rows(self, i: int) -> Array:
        start, stop = self._columns.offsets[i : i + 2]
        return start + np.flatnonzero(self._kept[start:stop])

    def _get_img(self, i: int) -> Image:
        path = self._image_path(i)
        check_image_location(path, self._real_folders, allow_outside=self._allow_outside)
        return read_image(path)

    def _get_annotation(self, i: int) -> tuple[BBox, Label, Area, Flags]:
        rows = self._rows(i)
        columns = self._columns
        return columns.bbox[rows], columns.label[rows], columns.area[rows], columns.crowded[rows]

    def _get_masks(self, i: int) -> Mask:
        columns = self._columns
        height, width = columns.sizes[i].tolist()
        size = (height, width) if min(height, width) >= 0 else read_image_size(self._image_path(i))
        rows = self._rows(i)
        if self._segmentations is None or columns.mask_spans is None:
            raise DatasetError("the masks of this data set are not read", hint="with_masks=True")
        texts = self._segmentations.read(columns.mask_spans[rows])
        return masks_from_json(texts, size, [f"annotation {columns.annotation_ids[row]}" for row in rows])

    def _get_points(self, i: int) -> tuple[Point, Array]:
        if self._columns.keypoints is None:
            raise DatasetError("the keypoints of this data set are not read", hint="with_keypoints=True")
        xyv = self._columns.keypoints[self._rows(i)]
        xyv = xyv.reshape(len(xyv), len(self._columns.keypoint_names), 3)
        if np.isnan(xyv).any():
            raise DatasetError(f"{self._image_path(i)}: an annotation has no keypoints")
        return xyv[:, :, [1, 0]], xyv[:, :, 2] > 0


def _check_names(json_path: FilePath, names: Sequence[str], allow_outside: bool) -> None:
    for name in names:
        if "\0" in name:
            raise DatasetError(f"{json_path}: a file_name contains a null byte", got=repr(name)[:80])
        if not allow_outside and leads_out(name):
            raise DatasetError(
                f"{json_path}: a file_name leads out of the image folder",
                got=repr(name)[:80],
                hint="allow_outside=True (--allow-outside, or ,outside=1 after the SPEC) if you trust the file",
            )


def _colors(names: Sequence[str]) -> Sequence[tuple[int, int, int]]:
    if set(names) <= set(coco_bbox_label_names):
        return tuple(coco_semantic_segmentation_label_colors[coco_bbox_label_names.index(name)] for name in names)
    return class_colors(len(names))


def chosen_keys(first: Sequence[str], wanted: Iterable[tuple[str, bool]]) -> tuple[str, ...]:
    """The keys of an example: `first`, then those of the pairs (key, flag) with a true flag."""
    return (*first, *(key for key, flag in wanted if flag))
