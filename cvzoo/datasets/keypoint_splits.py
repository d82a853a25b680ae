"""The training and evaluation sets of keypoint detection, from a specification on a command line."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from cvzoo.datasets.bbox_splits import coco_pair
from cvzoo.datasets.coco.json_datasets import COCOJSONKeypointDataset
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.errors.exceptions import ConfigError, DatasetError

_SIDES = {"left": "right", "right": "left", "Left": "Right", "Right": "Left", "LEFT": "RIGHT", "RIGHT": "LEFT"}


class KeypointSplits(NamedTuple):
    """A training set and an evaluation set with the same classes and keypoints.

    train, val: examples are (img, point, visible, label, bbox, area, crowded); crowds are ignored in training and
        evaluation
    label_names: the classes in the order of their labels
    point_names: the keypoints in their order
    """

    train: AbstractSliceableDataset
    val: AbstractSliceableDataset
    label_names: tuple[str, ...]
    point_names: tuple[str, ...]


def keypoint_splits(spec: str) -> KeypointSplits:
    """The training set and the evaluation set that a specification names.

    spec: "coco:TRAIN.json,VAL.json", optionally with ",photos=DIR", files such as person_keypoints_train2017.json; or
        "coco:ROOT" with both in ROOT/annotations
    Raises ConfigError for a malformed specification, DatasetError if a part is missing or empty, if it has no
    keypoints, or if the two parts have different classes or keypoints.
    """
    pair = coco_pair(spec, keypoints=True)
    if pair is None:
        raise ConfigError(f"{spec}: not two files of keypoints", expected="coco:TRAIN.json,VAL.json or coco:ROOT")
    train, val = map(_read, pair)
    for part, dataset in zip(pair, (train, val)):
        if not len(dataset):
            raise DatasetError(f"{part}: there are no images")
    if train.label_names != val.label_names:
        raise DatasetError(
            f"{spec}: train and val have different classes", expected=train.label_names, got=val.label_names
        )
    if train.keypoint_names != val.keypoint_names:
        raise DatasetError(
            f"{spec}: train and val have different keypoints", expected=train.keypoint_names, got=val.keypoint_names
        )
    return KeypointSplits(train, val, tuple(train.label_names), tuple(train.keypoint_names))


def mirrored_points(point_names: Sequence[str]) -> tuple[int, ...]:
    """For each keypoint the index of its counterpart in a horizontally flipped image: left and right exchanged.

    point_names: such as left_eye, right_eye, nose; a keypoint whose counterpart is not among them is its own
    """
    index = {name: k for k, name in enumerate(point_names)}
    return tuple(
        index.get(re.sub("left|right|Left|Right|LEFT|RIGHT", lambda side: _SIDES[side[0]], name), k)
        for k, name in enumerate(point_names)
    )


def _read(spec: DataSpec) -> COCOJSONKeypointDataset:
    return COCOJSONKeypointDataset(
        spec.path,
        spec.photos,
        use_crowded=True,
        return_label=True,
        return_bbox=True,
        return_area=True,
        return_crowded=True,
        allow_outside=spec.outside,
    )
