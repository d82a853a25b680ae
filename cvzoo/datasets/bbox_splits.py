"""The training and evaluation sets of a detector, from a specification such as voc:ROOT on a command line."""

import dataclasses
import shlex
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from cvzoo.datasets.coco.json_datasets import COCOJSONBboxDataset
from cvzoo.datasets.layouts.coco_files import INSTANCES, KEYPOINTS, coco_file
from cvzoo.datasets.layouts.data_spec import KINDS, DataSpec, parse_data_spec
from cvzoo.datasets.layouts.read_yolo import yolo_class_names
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.sroie_dataset import SROIETextDataset
from cvzoo.datasets.voc.bbox_dataset import VOCFolderBboxDataset
from cvzoo.datasets.voc.folders import voc_folders
from cvzoo.datasets.yolo_bbox_dataset import YOLOBboxDataset
from cvzoo.errors.exceptions import ConfigError, DatasetError
from cvzoo.typing.aliases import Flags

Dataset = TypeVar("Dataset", bound=GetterDataset)
_Splittable: TypeAlias = COCOJSONBboxDataset | VOCFolderBboxDataset | YOLOBboxDataset | SROIETextDataset


class BboxSplits(NamedTuple):
    """A training set and an evaluation set with the same classes.

    train, val: examples are (img, bbox, label, flag) in every layout: flag (R,) bool marks objects that are difficult
        (VOC) or crowded (COCO) and thus ignored in evaluation; all False for layouts without such a mark.
        `train.slice[:, ("img", "bbox", "label")]` drops it
    label_names: the classes in the order of their labels
    """

    train: AbstractSliceableDataset
    val: AbstractSliceableDataset
    label_names: tuple[str, ...]


def bbox_splits(spec: str) -> BboxSplits:
    """The training set and the evaluation set that a specification names.

    spec: "voc:ROOT", the lists train.txt and val.txt in ROOT/ImageSets/Main; "coco:TRAIN.json,VAL.json", optionally
        with ",photos=DIR", or "coco:ROOT" with annotations/instances_train*.json and instances_val*.json; "yolo:ROOT",
        the folders train and val below ROOT/images or the lists train.txt and val.txt in ROOT; "sroie:ROOT", its
        train.txt and val.txt. ",lists=DIR" for lists in another folder, ",base=0" for VOC files with 0-based
        coordinates, ",outside=1" to allow images outside of the data set's folder
    Boxes with zero area are dropped.
    Raises ConfigError for a malformed specification, DatasetError if a part is missing or empty, or if the two parts
    have different classes.
    """
    pair = coco_pair(spec)
    if pair is None:
        part = parse_data_spec(spec)
        if part.kind == "coco":
            raise ConfigError(f"{spec} names only one file", expected="two: coco:TRAIN.json,VAL.json, or coco:ROOT")
        if part.kind not in _READERS:
            raise ConfigError(
                f"{spec}: {part.kind}'s layout is not trained on", hint=f"cvzoo data convert {spec} NEW --to coco"
            )
        _refuse_split(part)
        train: _Splittable = _READERS[part.kind](part, "train")
        val: _Splittable = _READERS[part.kind](part, "val")
    else:
        train, val = _coco(pair[0]), _coco(pair[1])
    for name, each in (("train", train), ("val", val)):
        if not len(each):
            raise DatasetError(f"{spec}: {name} has no images")
    if train.label_names != val.label_names:
        raise DatasetError(
            f"{spec}: train and val have different classes", expected=train.label_names, got=val.label_names
        )
    return BboxSplits(train, val, tuple(train.label_names))


def split_specs(spec: str) -> tuple[DataSpec, ...]:
    """The parsed specifications: one of a folder with both parts, or two of COCO's files.

    Raises ConfigError for a malformed specification.
    """
    return coco_pair(spec) or (parse_data_spec(spec),)


def coco_pair(spec: str, *, keypoints: bool = False) -> tuple[DataSpec, DataSpec] | None:
    """The two files of "coco:A.json,B.json", or those of train and val in "coco:ROOT"; None for another specification.

    keypoints: in a folder, those of keypoints
    Raises ConfigError for a malformed specification, or if a part is missing.
    """
    kind, _, rest = spec.partition(":")
    first, comma, second = rest.partition(".json,")
    if kind != "coco" or not comma or not second.partition(",")[0].endswith(".json"):
        return _pair_in_folder(parse_data_spec(spec), keypoints)
    options = "".join("," + word for word in second.split(",")[1:])
    return parse_data_spec(f"coco:{first}.json{options}"), parse_data_spec(f"coco:{second}")


def means_coco(spec: str) -> bool:
    """Whether a specification is of COCO's files, by its prefix or, without one, by what is in the folder."""
    kind, colon, _ = spec.partition(":")
    if colon and kind in KINDS:
        return kind == "coco"
    try:
        return parse_data_spec(spec).kind == "coco"
    except ConfigError:  # such as a folder that does not exist, which is said where it is read
        return False


def _pair_in_folder(spec: DataSpec, keypoints: bool) -> tuple[DataSpec, DataSpec] | None:
    if spec.kind != "coco" or not spec.path.is_dir():
        return None
    _refuse_split(spec)
    first = KEYPOINTS if keypoints else INSTANCES
    train, val = (coco_file(spec.path, split, first=first) for split in ("train", "val"))
    return dataclasses.replace(spec, path=train), dataclasses.replace(spec, path=val)


def _refuse_split(spec: DataSpec) -> None:
    if spec.split is not None:
        raise ConfigError(f"{spec.text}: split= selects one part only", expected="both parts, train and val")


def _coco(spec: DataSpec) -> COCOJSONBboxDataset:
    return COCOJSONBboxDataset(
        spec.path, spec.photos, use_crowded=True, return_crowded=True, allow_outside=spec.outside
    )


def _voc(spec: DataSpec, split: str) -> VOCFolderBboxDataset:
    path = (spec.lists or voc_folders(spec.path).lists) / f"{split}.txt"
    if not path.is_file():
        raise DatasetError(f"{spec}: there is no list {path}", hint=f"cvzoo data split {shlex.quote(spec.text)}")
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


def _yolo(spec: DataSpec, split: str) -> YOLOBboxDataset:
    names = yolo_class_names(spec.path)
    if names is None:
        raise DatasetError(f"{spec}: no file lists the classes", expected="classes.txt, obj.names or data.yaml")
    images = (spec.photos or spec.path / "images") / split
    listed = (spec.lists or spec.path) / f"{split}.txt"
    source = images if images.is_dir() and spec.lists is None else listed
    if not source.exists():
        raise DatasetError(
            f"{spec}: there is no {split} split",
            expected=f"the folder {images} or the list {listed}",
            hint=f"cvzoo data split {shlex.quote(spec.text)}",
        )
    return _with_flag(YOLOBboxDataset(source, names, root=spec.path, use_empty=False, allow_outside=spec.outside))


def _sroie(spec: DataSpec, split: str) -> SROIETextDataset:
    return _with_flag(
        SROIETextDataset(spec.path, split, list_dir=spec.lists, use_empty=False, allow_outside=spec.outside)
    )


def _with_flag(dataset: Dataset) -> Dataset:
    """The data set with a fourth value, `difficult`, all False."""
    dataset.add_getter("difficult", _NoFlags(dataset))
    return dataset


@dataclasses.dataclass(frozen=True, eq=False)
class _NoFlags:
    """The getter of `difficult`; a class at the top of a module, so that the data set can be pickled."""

    dataset: GetterDataset

    def __call__(self, index: int) -> Flags:
        (bbox,) = self.dataset.get_example_by_keys(index, (self.dataset.keys.index("bbox"),))
        return np.zeros(len(bbox), bool)


_READERS: Mapping[str, Callable[[DataSpec, str], _Splittable]] = MappingProxyType(
    {"voc": _voc, "yolo": _yolo, "sroie": _sroie}
)
