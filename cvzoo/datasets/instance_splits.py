"""The training and evaluation sets of instance segmentation, from a specification on a command line."""

from typing import NamedTuple

from cvzoo.datasets.bbox_splits import coco_pair
from cvzoo.datasets.coco.json_datasets import COCOJSONInstanceSegmentationDataset
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.errors.exceptions import ConfigError, DatasetError


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

    spec: "coco:TRAIN.json,VAL.json", optionally with ",photos=DIR"
    Raises ConfigError for a malformed specification, DatasetError if a part is missing or empty, or if the two parts
    have different classes.
    """
    pair = coco_pair(spec)
    if pair is None:
        raise ConfigError(f"{spec}: not two files of instance masks", expected="coco:TRAIN.json,VAL.json")
    train, val = map(_read, pair)
    for part, dataset in zip(pair, (train, val)):
        if not len(dataset):
            raise DatasetError(f"{part}: there are no images")
    if train.label_names != val.label_names:
        raise DatasetError(f"{spec}: train and val have different classes", got=sorted(train.label_names)[:5])
    return InstanceSplits(train, val, tuple(train.label_names))


def _read(spec: DataSpec) -> COCOJSONInstanceSegmentationDataset:
    return COCOJSONInstanceSegmentationDataset(
        spec.path,
        spec.photos,
        use_crowded=True,
        return_area=True,
        return_crowded=True,
        return_bbox=True,
        allow_outside=spec.outside,
    )
