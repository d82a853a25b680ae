"""Ground truth of semantic segmentation: a folder of label maps, or a public data set by name."""

import argparse
import pathlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from cvzoo.datasets.label_map_folder_dataset import is_label_map_folder
from cvzoo.datasets.label_map_splits import label_map_split
from cvzoo.errors.exceptions import ConfigError, DatasetError
from cvzoo.images.list_image_files import list_image_files
from cvzoo.images.read_label import read_label
from cvzoo.labels.cityscapes import cityscapes_label_ids
from cvzoo.typing.aliases import ClassMap

_N_VALUES = 256  # of an 8-bit label map


class MapValues(NamedTuple):
    """The meaning of pixel values of label maps, in ground truth files and in results files.

    of_labels: the value of each label; None: the label itself
    of_none: the value of pixels of no class
    """

    of_labels: tuple[int, ...] | None
    of_none: int

    def decoded(self, values: ClassMap) -> ClassMap:
        """(H, W) int32: the labels of pixel values, -1 for other values."""
        if self.of_labels is None:
            return values
        labels = np.full(_N_VALUES, -1, np.int32)
        labels[list(self.of_labels)] = np.arange(len(self.of_labels))
        return np.where((values >= 0) & (values < _N_VALUES), labels[values % _N_VALUES], -1)

    def encoded(self, labels: ClassMap) -> ClassMap:
        """(H, W) int32: the pixel values of labels, -1 becomes `of_none`."""
        if self.of_labels is None:
            return np.where(labels < 0, self.of_none, labels)
        return np.array([*self.of_labels, self.of_none], np.int32)[labels]


_VALUES: Mapping[str, MapValues] = MappingProxyType(
    {
        "ade20k": MapValues(tuple(range(1, 151)), 0),
        "camvid": MapValues(tuple(range(11)), 11),
        "cityscapes": MapValues(cityscapes_label_ids, 0),
        "labels": MapValues(None, 255),
    }
)
LABEL_MAP_KINDS = ("ade20k", "camvid", "cityscapes", "labels")


class LabelMapTruth(NamedTuple):
    """The label maps of a data set.

    spec: as given; keys: the names of the images, which stored results have, too
    read: from an image's index to its label map (H, W) int32, -1 where pixels are ignored
    photos: the paths of the images; None if only label maps are known
    names: of the classes; None if they are unknown; values: what the pixels of the files mean
    """

    spec: str
    keys: list[str]
    read: Callable[[int], ClassMap]
    images: list[pathlib.Path] | None
    names: tuple[str, ...] | None
    values: MapValues

    def key_of(self, name: str) -> str:
        """The key of a file of results: its path in their folder, without the extension."""
        return _key(self.spec.partition(":")[0], name)


def means_label_maps(args: argparse.Namespace) -> bool:
    """Whether the ground truth of a command line is a set of label maps.

    VOC's is if the metric is mean IoU, and a folder's if it has label maps instead of a folder per class.
    """
    kind, _, root = (args.data or args.gt or "").partition(":")
    if kind == "folder":
        return bool(root) and is_label_map_folder(root)
    return kind in LABEL_MAP_KINDS or (kind == "voc" and args.metric == "miou")


def load_label_map_truth(args: argparse.Namespace) -> LabelMapTruth:
    """The ground truth of --data or --gt: `labels:DIR`, or `camvid:ROOT`, `folder:ROOT` and kin with --split,
    by default val.

    Raises ConfigError for a malformed specification, DatasetError if files are missing.
    """
    spec = args.data if args.gt is None else args.gt
    kind, _, root = spec.partition(":")
    if kind == "labels":
        if args.split is not None:
            raise ConfigError("--split does not apply to label maps of a folder", hint="the folder of the split")
        return _of_folder(spec, pathlib.Path(root), args.ignore, args.limit)
    if not root:
        raise ConfigError(f"{spec}: the folder of the data set is missing", expected=f"{kind}:FOLDER")
    dataset, names = label_map_split(spec, args.split or "val")
    n = len(dataset) if args.limit is None else min(args.limit, len(dataset))
    labels = dataset.slice[:n, "label"]
    images = [pathlib.Path(dataset.name(i)) for i in range(n)]
    keys = [_key(kind, image.stem) for image in images]
    # VOC's 21 classes, or those of a folder
    values = _VALUES.get(kind) or MapValues(tuple(range(len(names))), 255)
    return LabelMapTruth(spec, keys, lambda i: _ignoring(labels[i], args.ignore), images, names, values)


def maps_by_stem(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """The label maps of a folder and its subfolders, by their paths in it without extension.

    Raises DatasetError if it is not a folder, or two differ in their extension only.
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder} is not a folder")
    files: dict[str, pathlib.Path] = {}
    for path in list_image_files(folder, recursive=True):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if files.setdefault(name, path) != path:
            raise DatasetError(f"{path}: another label map has the same name", got=files[name])
    return files


def _of_folder(spec: str, folder: pathlib.Path, ignore: Sequence[int], limit: int | None) -> LabelMapTruth:
    files = maps_by_stem(folder)
    if not files:
        raise DatasetError(f"{folder} contains no label maps")
    keys = list(files)[:limit]
    return LabelMapTruth(
        spec, keys, lambda i: _ignoring(read_label(files[keys[i]]), ignore), None, None, _VALUES["labels"]
    )


def _ignoring(label: ClassMap, ignore: Sequence[int]) -> ClassMap:
    return np.where(np.isin(label, ignore), -1, label)


def _key(kind: str, name: str) -> str:
    if kind == "labels":
        return name
    stem = name.rsplit("/", 1)[-1]
    # Cityscapes' files are CITY_SEQUENCE_FRAME_KIND, and results begin with the first three
    return "_".join(stem.split("_")[:3]) if kind == "cityscapes" else stem
