"""MS COCO's panoptic annotations as label maps, for semantic segmentation."""

import json
import pathlib

import numpy as np

from cvzoo.datasets.coco.publication import provide_coco
from cvzoo.datasets.extract import extract
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import read_bytes
from cvzoo.errors.exceptions import DatasetError
from cvzoo.images.read_image import read_image
from cvzoo.labels.coco_panoptic import (
    coco_semantic_segmentation_label_colors,
    coco_semantic_segmentation_label_names,
)
from cvzoo.typing.aliases import ClassMap, FilePath, Image

# panopticapi encodes a segment's id as the color R + 256 G + 65536 B
_SHIFT = np.array([1, 256, 65536], np.int64)[:, None, None]


class COCOSemanticSegmentationDataset(GetterDataset):
    """MS COCO with label maps of 133 classes, things and stuff (`coco_semantic_segmentation_label_names`).

    data_dir: "auto", or a folder with annotations/panoptic_train2017.json, the folder (or .zip) of the same name and
        train2017 (or images/train2017)
    split: "train" or "val" of 2017
    img: (3, H, W) float32; label: (H, W) int32, -1 for unlabeled pixels
    Source: Kirillov et al., "Panoptic Segmentation", 2019; the file format of the official panopticapi.
    """

    def __init__(self, data_dir: FilePath = "auto", split: str = "train") -> None:
        super().__init__()
        json_path, self._image_dir = provide_coco(data_dir, kind="panoptic", split=split, year="2017")
        self._map_dir = json_path.with_suffix("")
        inner = json_path.with_suffix(".zip")
        if not self._map_dir.is_dir() and inner.is_file():
            extract(inner, inner.parent)
        try:
            file = json.loads(read_bytes(json_path, limit=None))
            label_of = {category["id"]: label for label, category in enumerate(file["categories"])}
            self._names = [each["file_name"] for each in file["annotations"]]
            self._segments = [
                (
                    np.array([segment["id"] for segment in each["segments_info"]], np.int64),
                    np.array([label_of[segment["category_id"]] for segment in each["segments_info"]], np.int32),
                )
                for each in file["annotations"]
            ]
            self.label_names = tuple(category["name"] for category in file["categories"])
            self.label_colors = coco_semantic_segmentation_label_colors
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise DatasetError(f"{json_path}: not a panoptic file in COCO's format", got=repr(error)) from error
        if len(self.label_names) != len(coco_semantic_segmentation_label_names):
            raise DatasetError(
                f"{json_path}: wrong number of classes",
                expected=len(coco_semantic_segmentation_label_names),
                got=len(self.label_names),
            )
        self.add_getter("img", self._get_img)
        self.add_getter("label", self._get_label)
        self.name_examples(self._image_path)

    def __len__(self) -> int:
        return len(self._names)

    def _image_path(self, i: int) -> pathlib.Path:
        return (self._image_dir / self._names[i]).with_suffix(".jpg")

    def _get_img(self, i: int) -> Image:
        return read_image(self._image_path(i))

    def _get_label(self, i: int) -> ClassMap:
        path = self._map_dir / self._names[i]
        pixel_ids = (read_image(path).astype(np.int64) * _SHIFT).sum(axis=0)
        ids, labels = self._segments[i]
        sorted_ids = np.append(-1, np.sort(ids))
        sorted_labels = np.append(np.int32(-1), labels[np.argsort(ids)])
        index = np.searchsorted(sorted_ids, pixel_ids, side="right") - 1
        return np.where(sorted_ids[index] == pixel_ids, sorted_labels[index], np.int32(-1))
