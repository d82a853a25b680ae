"""The training and evaluation sets of instance segmentation, from a specification on a command line."""

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np

from cvzoo.datasets.bbox_splits import coco_pair
from cvzoo.datasets.coco.json_datasets import COCOJSONInstanceSegmentationDataset
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.voc.sbd_dataset import SBDInstanceSegmentationDataset
from cvzoo.datasets.voc.segmentation_datasets import VOCInstanceSegmentationDataset
from cvzoo.errors.exceptions import ConfigError, DatasetError
from cvzoo.geometry.mask_to_bbox import mask_to_bbox
from cvzoo.typing.aliases import Area, BBox, Flags

_OfMaps: TypeAlias = SBDInstanceSegmentationDataset | VOCInstanceSegmentationDataset
_Dataset: TypeAlias = COCOJSONInstanceSegmentationDataset | _OfMaps
MASK_KINDS: Mapping[str, Callable[[str, str], _OfMaps]] = MappingProxyType(
    {"sbd": SBDInstanceSegmentationDataset, "voc": VOCInstanceSegmentationDataset}
)


class InstanceSplits(NamedTuple):
    """A training set and an evaluation set with the same classes.

    train, val: examples are (img, mask, label, area, crowded, bbox); crowds are ignored in training and evaluation
    label_names: the classes in the order of their labels
    """

    train: AbstractSliceableDataset
    val: AbstractSliceableDataset
    label_names: tuple[str, ...]


def instance_splits(spec: str) -> InstanceSplits:
    """The training set and the evaluation set that a specification names.

    spec: "coco:TRAIN.json,VAL.json", optionally with ",photos=DIR"; or "coco:ROOT" with
        annotations/instances_train*.json and instances_val*.json; "voc:ROOT", the masks in SegmentationObject of 2012
        or of a folder in its layout; "sbd:ROOT", ROOT as data_dir of `SBDInstanceSegmentationDataset`
    Raises ConfigError for a malformed specification, DatasetError if a part is missing or empty, if an object has no
    mask, or if the two parts have different classes.
    """
    kind, _, root = spec.partition(":")
    train: _Dataset
    val: _Dataset
    if kind in MASK_KINDS:
        if not root:
            raise ConfigError(f"{spec}: the path of the data set is missing", expected=f"{kind}:ROOT")
        train, val = (_with_boxes(MASK_KINDS[kind](root, split)) for split in ("train", "val"))
    else:
        pair = coco_pair(spec)
        if pair is None:
            expected = "coco:TRAIN.json,VAL.json, coco:ROOT, voc:ROOT or sbd:ROOT"
            raise ConfigError(f"{spec}: not a training and an evaluation set of instance masks", expected=expected)
        train, val = map(_read, pair)
    for name, dataset in (("train", train), ("val", val)):
        if not len(dataset):
            raise DatasetError(f"{spec}: {name} has no images")
    if train.label_names != val.label_names:
        raise DatasetError(f"{spec}: train and val have different classes", got=sorted(train.label_names)[:5])
    return InstanceSplits(train, val, tuple(train.label_names))


def _with_boxes(dataset: _OfMaps) -> _OfMaps:
    """The data set with three more values: the areas of the masks, that none is a crowd, and the boxes around them."""
    dataset.add_getter(("area", "crowded", "bbox"), _OfMasks(dataset))
    return dataset


@dataclasses.dataclass(frozen=True, eq=False)
class _OfMasks:
    """The getter of these values; a class at the top of a module, so that the data set can be pickled."""

    dataset: _OfMaps

    def __call__(self, index: int) -> tuple[Area, Flags, BBox]:
        (mask,) = self.dataset.get_example_by_keys(index, (self.dataset.keys.index("mask"),))
        return mask.sum(axis=(1, 2), dtype=np.float32), np.zeros(len(mask), bool), mask_to_bbox(mask)


def _read(spec: DataSpec) -> COCOJSONInstanceSegmentationDataset:
    dataset = COCOJSONInstanceSegmentationDataset(
        spec.path,
        spec.photos,
        use_crowded=True,
        return_area=True,
        return_crowded=True,
        return_bbox=True,
        allow_outside=spec.outside,
    )
    n = dataset.n_without_mask
    if n:
        words = f"{spec.path}: {n} object{'s have' if n > 1 else ' has'} a box, but no mask"
        raise DatasetError(words, expected="a polygon or a run-length encoding of each object")
    return dataset
