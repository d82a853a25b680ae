"""What to train a detector on, and what to score it on, from one word of a command line."""

import dataclasses
import shlex
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from cvzoo.datasets.coco.json_datasets import COCOJSONBboxDataset
from cvzoo.datasets.layouts.data_spec import DataSpec, parse_data_spec
from cvzoo.datasets.layouts.read_yolo import yolo_class_names
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.sroie_dataset import SROIETextDataset
from cvzoo.datasets.voc.bbox_dataset import VOCFolderBboxDataset
from cvzoo.datasets.voc.folders import voc_folders
from cvzoo.datasets.yolo_bbox_dataset import YOLOBboxDataset
from cvzoo.errors.exceptions import ConfigError, DatasetError


class BboxSplits(NamedTuple):
    """Two data sets with the same classes.

    train, val: examples are (img, bbox, label, flag) in every layout: flag (R,) bool says which objects are difficult
        (VOC) or crowded (COCO), and need not be found; none is where the layout has no such mark.
        `train.slice[:, ("img", "bbox", "label")]` leaves it out
    label_names: the classes in the order of their labels
    """

    train: AbstractSliceableDataset
    val: AbstractSliceableDataset
    label_names: tuple[str, ...]


def bbox_splits(spec: str) -> BboxSplits:
    """The data sets that the text names, both parts of it.

    spec: "voc:ROOT", the lists train.txt and val.txt in ROOT/ImageSets/Main; "coco:TRAIN.json,VAL.json" (and perhaps
        ",photos=DIR"); "yolo:ROOT", the folders train and val below ROOT/images or the lists train.txt and val.txt in
        ROOT; "sroie:ROOT", its train.txt and val.txt. ",lists=DIR" for lists elsewhere, ",base=0" for VOC files that
        count pixels from 0
    Boxes without an area are left out, in COCO's files as in all others. Photos outside of the data set's folder are
    refused, unless ",outside=1" stands behind the rest.
    Raises ConfigError if the text is not understood, DatasetError if a part is not there, has no photo, or the two
    parts differ in their classes.
    """
    pair = _coco_pair(spec)
    if pair is None:
        part = parse_data_spec(spec)
        if part.kind == "coco":
            raise ConfigError(f"{spec}: one file", expected="two: coco:TRAIN.json,VAL.json")
        if part.split is not None:
            raise ConfigError(f"{spec}: split=", expected="both parts, train and val")
        train, val = _READERS[part.kind](part, "train"), _READERS[part.kind](part, "val")
    else:
        train, val = (_coco(each) for each in pair)
    for name, each in (("train", train), ("val", val)):
        if not len(each):
            raise DatasetError(f"{spec}: {name} has no photo")
    if train.label_names != val.label_names:
        raise DatasetError(f"{spec}: train and val have other classes", expected=train.label_names, got=val.label_names)
    return BboxSplits(train, val, tuple(train.label_names))


def split_specs(spec: str) -> tuple[DataSpec, ...]:
    """What to examine of the data that the text names: one place that holds both parts, or COCO's two files.

    Raises ConfigError if the text is not understood.
    """
    return _coco_pair(spec) or (parse_data_spec(spec),)


def _coco_pair(spec):
    """The two files of "coco:A.json,B.json", or None if there are not two."""
    kind, _, rest = spec.partition(":")
    first, comma, second = rest.partition(".json,")
    if kind != "coco" or not comma or not second.partition(",")[0].endswith(".json"):
        return None
    options = "".join("," + word for word in second.split(",")[1:])
    return parse_data_spec(f"coco:{first}.json{options}"), parse_data_spec(f"coco:{second}")


def _coco(spec: DataSpec) -> AbstractSliceableDataset:
    return COCOJSONBboxDataset(
        spec.path, spec.photos, use_crowded=True, return_crowded=True, allow_outside=spec.outside
    )


def _voc(spec: DataSpec, split: str) -> AbstractSliceableDataset:
    found = (spec.lists or voc_folders(spec.path).lists) / f"{split}.txt"
    if not found.is_file():
        raise DatasetError(f"{spec}: no list {found}", hint=f"cvzoo data split {shlex.quote(spec.text)}")
    return VOCFolderBboxDataset(
        spec.path,
        split,
        list_dir=spec.lists,
        one_based=spec.base == 1,
        use_difficult=True,
        return_difficult=True,
        use_empty=False,
        allow_outside=spec.outside,
    )


def _yolo(spec: DataSpec, split: str) -> AbstractSliceableDataset:
    names = yolo_class_names(spec.path)
    if names is None:
        raise DatasetError(f"{spec}: nothing names the classes", expected="classes.txt, obj.names or data.yaml")
    photos = (spec.photos or spec.path / "images") / split
    listed = (spec.lists or spec.path) / f"{split}.txt"
    source = photos if photos.is_dir() and spec.lists is None else listed
    if not source.exists():
        raise DatasetError(
            f"{spec}: nothing to {split} on",
            expected=f"the folder {photos} or the list {listed}",
            hint=f"cvzoo data split {shlex.quote(spec.text)}",
        )
    return _with_flag(YOLOBboxDataset(source, names, root=spec.path, use_empty=False, allow_outside=spec.outside))


def _sroie(spec: DataSpec, split: str) -> AbstractSliceableDataset:
    return _with_flag(
        SROIETextDataset(spec.path, split, list_dir=spec.lists, use_empty=False, allow_outside=spec.outside)
    )


def _with_flag(dataset: GetterDataset) -> GetterDataset:
    """The data set with a fourth value, `difficult`, that marks no object."""
    dataset.add_getter("difficult", _NoFlags(dataset))
    return dataset


@dataclasses.dataclass(frozen=True, eq=False)
class _NoFlags:
    """A getter, at the top of a module so that the data set can be sent to other processes."""

    dataset: GetterDataset

    def __call__(self, index: int) -> np.ndarray:
        (bbox,) = self.dataset.get_example_by_keys(index, (self.dataset.keys.index("bbox"),))
        return np.zeros(len(bbox), bool)


_READERS: Mapping[str, Callable[[DataSpec, str], AbstractSliceableDataset]] = MappingProxyType(
    {"voc": _voc, "yolo": _yolo, "sroie": _sroie}
)
