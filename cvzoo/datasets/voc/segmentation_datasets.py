"""Pascal VOC's semantic and instance segmentation."""

import pathlib

import numpy as np

from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import read_lines
from cvzoo.datasets.voc.instance_masks import masks_of
from cvzoo.datasets.voc.publication import provide_voc
from cvzoo.images.list_image_files import IMAGE_ENDINGS
from cvzoo.images.read_image import read_image
from cvzoo.images.read_label import read_label
from cvzoo.labels.class_colors import class_colors
from cvzoo.labels.voc import (
    voc_bbox_label_names,
    voc_semantic_segmentation_label_colors,
    voc_semantic_segmentation_label_names,
)
from cvzoo.typing.aliases import ClassMap, FilePath, Image, Label, Mask


class VOCSemanticSegmentationDataset(GetterDataset):
    """Pascal VOC 2012 with label maps of 21 classes, of which 0 is the background.

    data_dir: as in VOCBboxDataset; or a folder in its layout with other classes in classes.txt, of which the first has
        the pixels of value 0, or those of value 1 if there are masks of objects (SegmentationObject): 0 is then the
        background
    split: "train", "val" or "trainval", or a list of that folder
    img: (3, H, W) float32; label: (H, W) int32, -1 on the contours of objects and in unclear regions
    """

    def __init__(self, data_dir: FilePath = "auto", split: str = "train") -> None:
        super().__init__()
        self._root, ids_path = provide_voc(data_dir, year="2012", split=split, image_set="Segmentation")
        self.label_names, self.label_colors = _classes_of_maps(self._root)
        self._ids = read_lines(ids_path)
        self.add_getter("img", self._get_img)
        self.add_getter("label", self._get_label)
        self.name_examples(self._image_path)

    def __len__(self) -> int:
        return len(self._ids)

    def _image_path(self, i: int) -> pathlib.Path:
        return _image_path(self._root / "JPEGImages", self._ids[i])

    def _get_img(self, i: int) -> Image:
        return read_image(self._image_path(i))

    def _get_label(self, i: int) -> ClassMap:
        label = read_label(self._root / f"SegmentationClass/{self._ids[i]}.png")
        label[label == 255] = -1
        return label


class VOCInstanceSegmentationDataset(GetterDataset):
    """Pascal VOC 2012 with instance masks of 20 classes, or a folder in its layout with other classes in classes.txt.

    data_dir: as in VOCBboxDataset; split: "train", "val" or "trainval", or a list of a folder of your own
    img: (3, H, W) float32; mask: (R, H, W) bool; label: (R,) int32
    """

    def __init__(self, data_dir: FilePath = "auto", split: str = "train") -> None:
        super().__init__()
        self._root, ids_path = provide_voc(data_dir, year="2012", split=split, image_set="Segmentation")
        self.label_names = _class_names(self._root)
        self.label_colors = class_colors(len(self.label_names))
        self._ids = read_lines(ids_path)
        self.add_getter("img", self._get_img)
        self.add_getter(("mask", "label"), self._get_masks)
        self.name_examples(self._image_path)

    def __len__(self) -> int:
        return len(self._ids)

    def _image_path(self, i: int) -> pathlib.Path:
        return _image_path(self._root / "JPEGImages", self._ids[i])

    def _get_img(self, i: int) -> Image:
        return read_image(self._image_path(i))

    def _get_masks(self, i: int) -> tuple[Mask, Label]:
        path = self._root / f"SegmentationObject/{self._ids[i]}.png"
        classes = read_label(self._root / f"SegmentationClass/{self._ids[i]}.png", dtype=np.uint8)
        return masks_of(classes, read_label(path, dtype=np.uint8), path)


def _image_path(folder: pathlib.Path, stem: str) -> pathlib.Path:
    """The image of that name, in whatever format it is."""
    paths = (folder / f"{stem}{ending}" for ending in (".jpg", *sorted(IMAGE_ENDINGS)))
    return next((path for path in paths if path.is_file()), folder / f"{stem}.jpg")


def _classes_of_maps(root: pathlib.Path) -> tuple[tuple[str, ...], tuple[tuple[int, int, int], ...]]:
    """The names of the classes of label maps, and their colors."""
    path = root / "classes.txt"
    names = tuple(read_lines(path)) if path.is_file() else ()
    known = voc_semantic_segmentation_label_names
    if not names or set(names) <= set(voc_bbox_label_names) or names == known:
        return known, voc_semantic_segmentation_label_colors
    if (root / "SegmentationObject").is_dir() and known[0] not in names:
        names = (known[0], *names)
    return names, class_colors(len(names))


def _class_names(root: pathlib.Path) -> tuple[str, ...]:
    """The names in classes.txt in order; VOC's 20 if there is no such file, or if it has no others."""
    path = root / "classes.txt"
    names = tuple(read_lines(path)) if path.is_file() else ()
    return voc_bbox_label_names if set(names) <= set(voc_bbox_label_names) else names
